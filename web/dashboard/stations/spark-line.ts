import { html, nothing } from 'lit'

import { watchPermissions } from '../api/permissions.ts'
import { pollResource } from '../api/poll-resource.ts'
import { attachListenerChart } from '../ui/chart.ts'
import { StationElement } from '../ui/light-element.ts'
import { summarizeSeries } from '../ui/listener-series.ts'
import { watchVisibility } from './visibility.ts'

const stepSeconds = 300

/** A small chart of a station's listeners in the last 24 hours; empty if the key cannot view reports. */
export class SparkLine extends StationElement {
  readonly #visibility = watchVisibility(this)
  readonly #permissions = watchPermissions(this, () => this.station)
  #wasVisible = false
  readonly #series = pollResource(this, {
    path: () => {
      this.#wasVisible ||= this.#visibility.isVisible
      return this.#wasVisible && this.#permissions.allows('viewReports')
        ? `${this.path}/listeners/series?step=${stepSeconds}`
        : null
    },
    intervalMs: 300_000
  })

  constructor() {
    super()
    attachListenerChart(this, {
      series: () => this.#series.value,
      options: () => ({
        height: 36,
        padding: [3, 0, 3, 0],
        cursor: { show: false },
        axes: [{ show: false }, { show: false }],
        scales: { y: { range: (_, __, most) => [0, Math.max(4, most)] } }
      })
    })
  }

  protected override render() {
    const { value } = this.#series
    if (this.#permissions.isKnown && !this.#permissions.allows('viewReports')) return nothing
    const label = value === null ? 'Listeners' : summarizeSeries(value.points, this.clock.formatTime)
    return html`<div class="chart" role="img" aria-label=${label}></div>
      <i class="ink-line"></i><i class="ink-area"></i>`
  }
}
