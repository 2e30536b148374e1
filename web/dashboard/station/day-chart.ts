import { html } from 'lit'
import uPlot from 'uplot'

import { attachListenerChart, type ListenerChartOptions } from '../ui/chart.ts'
import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import { summarizeSeries } from '../ui/listener-series.ts'
import { panelView } from '../ui/panel.ts'
import { plotStyle } from '../ui/plot.ts'
import { formatCount } from '../ui/text.ts'
import { formatMinuteOfDay } from '../ui/time.ts'

const stepSeconds = 60
/** The possible seconds between the labels of the time axis. */
const timeIncrements = [1, 2, 3, 4, 6, 12].map(hours => hours * 3_600)

/** The listeners of a station in the last 24 hours, at the end of each minute. */
export class DayChart extends StationElement {
  static override properties = reactiveProperties<DayChart>('pointIndex')
  /** The index of the point under the pointer. */
  pointIndex: number | null = null

  readonly #series = this.poll(`listeners/series?step=${stepSeconds}`, 60_000)

  constructor() {
    super()
    attachListenerChart(this, { series: () => this.#series.value, options: () => this.#chartOptions() })
  }

  protected override render() {
    const { value } = this.#series
    const summary = value === null ? 'Listeners' : summarizeSeries(value.points, this.clock.formatTime)
    const actions = html`<p class="chart-text">${this.#readout()}</p>`
    return panelView(
      { id: 'day-chart', title: 'Listeners per minute, last 24 hours', resource: this.#series, actions },
      html`<div class="chart" role="img" aria-label=${summary}></div>
        <i class="ink-line"></i><i class="ink-area"></i><i class="ink-text"></i><i class="ink-grid"></i>`
    )
  }

  /** The point under the pointer, or else the peak of the day. */
  #readout(): string {
    const points = this.#series.value?.points ?? []
    const point = this.pointIndex === null ? undefined : points[this.pointIndex]
    if (point === undefined) {
      const peak = Math.max(0, ...points.map(({ most }) => most))
      return points.length === 0 ? '' : `Peak: ${formatCount(peak, 'listener')}`
    }
    const range = point.most === point.fewest ? '' : ` (${point.fewest} to ${point.most})`
    return `${this.clock.formatTime(point.at)}: ${formatCount(point.total, 'listener')}${range}`
  }

  #setPoint({ cursor: { idx }, data: [times] }: uPlot): void {
    const at = idx === null || idx === undefined ? undefined : times[idx]
    const points = this.#series.value?.points ?? []
    const index = at === undefined ? -1 : points.findIndex(point => point.at + stepSeconds >= at)
    this.pointIndex = index === -1 ? null : index
  }

  #chartOptions(): ReturnType<ListenerChartOptions['options']> {
    const { xAxis, yAxis, yScale } = plotStyle(this)
    const { zone, minuteOfDay } = this.clock
    return {
      height: 180,
      padding: [8, 20, 0, 0],
      cursor: { drag: { x: false, y: false }, y: false, points: { size: 7 } },
      tzDate: seconds => uPlot.tzDate(new Date(seconds * 1_000), zone),
      axes: [
        {
          ...xAxis,
          space: 80,
          incrs: timeIncrements,
          values: (_, ticks) => ticks.map(at => formatMinuteOfDay(minuteOfDay(at * 1_000)))
        },
        yAxis
      ],
      scales: { y: yScale },
      hooks: { setCursor: [plot => this.#setPoint(plot)] }
    }
  }
}
