import { html, nothing } from 'lit'

import { timeOfDay } from '../elements/time-text.ts'
import { chartFor, inkOf } from './chart.ts'
import { LightElement } from './light-element.ts'
import { listenerSeries, summaryOf } from './listener-series.ts'
import { readFor } from './reading.ts'
import { seenFor } from './seen.ts'

const everyMs = 300_000
const stepSeconds = 900

/** The listeners of a station's last day as one line; nothing for a key that may not know. */
export class SparkLine extends LightElement {
  static override properties = { station: { attribute: false } }
  declare station: number

  readonly #seen = seenFor(this)
  #isWanted = false
  readonly #series = readFor(this, {
    schema: listenerSeries,
    path: () => {
      this.#isWanted ||= this.#seen.isSeen
      return this.#isWanted ? `api/station/${this.station}/listeners/series?step=${stepSeconds}` : null
    },
    everyMs
  })

  constructor() {
    super()
    chartFor(this, {
      points: () => this.#series.value?.points ?? null,
      options: () => ({
        height: 36,
        padding: [3, 0, 3, 0],
        legend: { show: false },
        cursor: { show: false },
        axes: [{ show: false }, { show: false }],
        scales: { y: { range: (_, __, most) => [0, Math.max(4, most)] } },
        series: [
          {},
          { show: false },
          { show: false },
          { stroke: inkOf(this, 'line'), fill: inkOf(this, 'area'), width: 1.5, points: { show: false } }
        ]
      })
    })
  }

  protected override render() {
    const { value, trouble } = this.#series
    if (trouble !== null && value === null) return nothing
    const label = value === null ? 'Listeners' : summaryOf(value.points, seconds => timeOfDay(seconds))
    return html`<div class="chart" role="img" aria-label=${label}></div>
      <i class="ink-line"></i><i class="ink-area"></i>`
  }
}
