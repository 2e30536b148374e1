import { html, nothing } from 'lit'
import { repeat } from 'lit/directives/repeat.js'

import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import { loadStateView } from '../ui/panel.ts'
import { hookChangedEvent } from './hook-card.ts'
import { hooksSchema } from './hook.ts'

/** The web hooks of a station. */
export class StationHooks extends StationElement {
  static override properties = reactiveProperties('canManage')
  declare canManage: boolean

  readonly #hooks = this.poll('webhooks', hooksSchema, 5_000)

  constructor() {
    super()
    this.addEventListener(hookChangedEvent, () => void this.#hooks.refresh())
  }

  protected override render() {
    const { value } = this.#hooks
    return html`<h2 class="visually-hidden">Web hooks</h2>
      ${loadStateView(this.#hooks)}
      ${value?.length === 0 ? html`<p class="quiet">This station has no web hooks.</p>` : nothing}
      <ul class="stack">
        ${repeat(
          value ?? [],
          ({ id }) => id,
          hook =>
            html`<li>
              <hook-card
                .station=${this.station}
                .zone=${this.zone}
                .hook=${hook}
                .canManage=${this.canManage}
              ></hook-card>
            </li>`
        )}
      </ul>`
  }
}
