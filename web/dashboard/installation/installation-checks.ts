import { html, nothing } from 'lit'

import { pollResource } from '../api/poll-resource.ts'
import { type Chip, chipView } from '../ui/controls.ts'
import { LightElement } from '../ui/light-element.ts'
import { panelView } from '../ui/panel.ts'

/** What is wrong with the installation, and what to do about it, as `npm run doctor` says it. */
export class InstallationChecks extends LightElement {
  readonly #checks = pollResource(this, {
    path: () => 'api/admin/checks',
    intervalMs: 300_000
  })

  protected override render() {
    const found = this.#checks.value?.filter(({ status }) => status in chips)
    const emptyText = found?.length === 0 ? 'All checks passed.' : ''
    return panelView(
      { id: 'checks', title: 'Checks', resource: this.#checks, emptyText },
      html`<ul class="gauges">
        ${found?.map(
          ({ check, status, message, advice }) =>
            html`<li class="gauge">
              <p>
                ${chipView(chips[status] ?? { text: status, tone: 'warning' })}
                <strong>${check}</strong> ${message}
              </p>
              ${advice === '' ? nothing : html`<p class="quiet">${advice}</p>`}
            </li>`
        )}
      </ul>`
    )
  }
}

const chips: Readonly<Record<string, Chip>> = {
  problem: { text: 'Problem', tone: 'bad' },
  warning: { text: 'Warning', tone: 'warning' }
}
