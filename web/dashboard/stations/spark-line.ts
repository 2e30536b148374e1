import { html, nothing } from 'lit'

import { keyOfTab } from '../api/key.ts'
import { readFor } from '../api/poll-resource.ts'
import { chartFor, inkOf, stepped } from '../ui/chart.ts'
import { LightElement } from '../ui/light-element.ts'
import { listenerSeries, summaryOf } from '../ui/listener-series.ts'
import { zoneTime } from '../ui/time.ts'
import { isWorthAsking, noteAnswer } from './report-refusals.ts'
import { seenFor } from './visibility.ts'

const everyMs = 300_000
const stepSeconds = 300

/** The listeners of a station's last day as one line; nothing for a key that may not know. */
export class SparkLine extends LightElement {
  static override properties = { station: { attribute: false }, zone: { attribute: false } }
  declare station: number
  declare zone: string

  readonly #seen = seenFor(this)
  #isWanted = false
  #isAnswered = false
  readonly #series = readFor(this, {
    schema: listenerSeries,
    path: () => {
      this.#isWanted ||= this.#seen.isSeen
      return this.#isWanted && (this.#isAnswered || isWorthAsking(keyOfTab()))
        ? `api/station/${this.station}/listeners/series?step=${stepSeconds}`
        : null
    },
    everyMs
  })

  constructor() {
    super()
    chartFor(this, {
      series: () => this.#series.value,
      options: () => ({
        height: 36,
        padding: [3, 0, 3, 0],
        legend: { show: false },
        cursor: { show: false },
        axes: [{ show: false }, { show: false }],
        scales: { y: { range: (_, __, most) => [0, Math.max(4, most)] } },
        series: [
          {},
          {
            stroke: inkOf(this, 'line'),
            fill: inkOf(this, 'area'),
            width: 1.5,
            ...stepped,
            points: { show: false }
          }
        ]
      })
    })
  }

  protected override willUpdate(): void {
    const { value, trouble } = this.#series
    if (this.#isAnswered || (value === null && trouble?.status !== 403)) return
    this.#isAnswered = true
    noteAnswer(keyOfTab(), value === null)
  }

  protected override render() {
    const { value, trouble } = this.#series
    if (trouble !== null && value === null) return nothing
    const label = value === null ? 'Listeners' : summaryOf(value.points, zoneTime(this.zone).time)
    return html`<div class="chart" role="img" aria-label=${label}></div>
      <i class="ink-line"></i><i class="ink-area"></i>`
  }
}
