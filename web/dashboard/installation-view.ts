import { html, nothing } from 'lit'

import { LightElement } from './light-element.ts'
import { installationRightsFor } from './rights.ts'

/** Everything beside stations. */
export class InstallationView extends LightElement {
  readonly #rights = installationRightsFor(this)

  protected override render() {
    return html`<div class="installation">
      <notification-list .maySettle=${this.#rights.may('settling')}></notification-list>
      ${this.#rights.may('storage') ? html`<storage-gauges></storage-gauges>` : nothing}
      <system-health></system-health>
    </div>`
  }
}
