import { html } from 'lit'
import uPlot from 'uplot'

import { readFor } from '../api/poll-resource.ts'
import { chartFor, inkOf, stepped } from '../ui/chart.ts'
import { clockText } from '../ui/clock-text.ts'
import { LightElement } from '../ui/light-element.ts'
import { listenerSeries, type Points, summaryOf } from '../ui/listener-series.ts'
import { errorView } from '../ui/panel.ts'
import { counted } from '../ui/text.ts'
import { zoneTime } from '../ui/time.ts'

const everyMs = 60_000
const stepSeconds = 60
/** Hours between the times below the chart. */
const apart = [1, 2, 3, 4, 6, 12].map(hours => hours * 3_600)

/** The listeners of a station's last 24 hours: how many there were at the end of each minute. */
export class DayChart extends LightElement {
  static override properties = {
    station: { attribute: false },
    zone: { attribute: false },
    pointed: { state: true }
  }
  declare station: string
  declare zone: string
  /** The point that is pointed at. */
  declare pointed: number | null

  readonly #series = readFor(this, {
    schema: listenerSeries,
    path: () => `api/station/${encodeURIComponent(this.station)}/listeners/series?step=${stepSeconds}`,
    everyMs
  })

  constructor() {
    super()
    this.pointed = null
    chartFor(this, { series: () => this.#series.value, options: () => this.#options() })
  }

  protected override render() {
    const { value } = this.#series
    const { time } = zoneTime(this.zone)
    return html`<section class="panel" aria-labelledby="day-chart">
      <header class="panel-head">
        <h2 class="heading" id="day-chart">Listeners in each minute, last 24 hours</h2>
        <p class="chart-text">${value === null ? '' : readout(value.points, this.pointed, time)}</p>
      </header>
      ${errorView(this.#series)}
      <div
        class="chart"
        role="img"
        aria-label=${value === null ? 'Listeners' : summaryOf(value.points, time)}
      ></div>
      <i class="ink-line"></i><i class="ink-area"></i><i class="ink-text"></i><i class="ink-grid"></i>
    </section>`
  }

  #point({ cursor: { idx }, data: [times] }: uPlot): void {
    const at = idx === null || idx === undefined ? undefined : times[idx]
    const points = this.#series.value?.points ?? []
    const index = at === undefined ? -1 : points.findIndex(point => point.at + stepSeconds >= at)
    this.pointed = index === -1 ? null : index
  }

  #options(): Omit<uPlot.Options, 'width'> {
    const { fontFamily } = getComputedStyle(this)
    const axis = {
      stroke: inkOf(this, 'text'),
      font: `12px ${fontFamily}`,
      ticks: { show: false },
      border: { show: false }
    }
    const { zone, minutes } = zoneTime(this.zone)
    return {
      height: 180,
      padding: [8, 20, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, y: false, points: { size: 7 } },
      tzDate: seconds => uPlot.tzDate(new Date(seconds * 1_000), zone),
      axes: [
        {
          ...axis,
          grid: { show: false },
          space: 80,
          size: 28,
          incrs: apart,
          values: (_, ticks) => ticks.map(at => clockText(minutes(at * 1_000)))
        },
        {
          ...axis,
          size: (_, ticks) => 12 + 7 * Math.max(3, ...(ticks ?? []).map(text => text.length)),
          space: 40,
          incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 100_000],
          grid: { stroke: inkOf(this, 'grid'), width: 1 }
        }
      ],
      scales: { y: { range: (_, __, most) => [0, Math.max(5, Math.ceil(most * 1.1))] } },
      series: [
        {},
        {
          stroke: inkOf(this, 'line'),
          fill: inkOf(this, 'area'),
          width: 1.5,
          ...stepped,
          points: { show: false }
        }
      ],
      hooks: { setCursor: [plot => this.#point(plot)] }
    }
  }
}

function readout(points: Points, pointed: number | null, timeOf: (seconds: number) => string): string {
  const point = pointed === null ? undefined : points[pointed]
  if (point === undefined) {
    const peak = Math.max(0, ...points.map(({ most }) => most))
    return points.length === 0 ? '' : `At most ${counted(peak, 'listener')}`
  }
  const range = point.most === point.fewest ? '' : ` (${point.fewest} to ${point.most})`
  return `${timeOf(point.at)}: ${counted(point.total, 'listener')}${range}`
}
