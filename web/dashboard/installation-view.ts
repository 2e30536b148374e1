import { html, nothing } from 'lit'

import { LightElement } from './light-element.ts'
import { installationRightsFor } from './rights.ts'
import type { Health, Queue } from './standing.ts'

/** Everything beside stations. */
export class InstallationView extends LightElement {
  static override properties = { health: { attribute: false }, queues: { attribute: false } }
  declare health: Health | null
  declare queues: readonly Queue[] | null

  readonly #rights = installationRightsFor(this)

  protected override render() {
    return html`<div class="installation">
      <notification-list .maySettle=${this.#rights.may('settling')}></notification-list>
      ${this.#rights.may('storage') ? html`<storage-gauges></storage-gauges>` : nothing}
      <system-health .health=${this.health} .queues=${this.queues}></system-health>
    </div>`
  }
}
