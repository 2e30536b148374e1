import { html, nothing } from 'lit'
import { repeat } from 'lit/directives/repeat.js'

import { watchAddressedForm } from '../resources/addressed-form.ts'
import { webHooksResourceView } from '../resources/web-hooks.ts'
import { buttonView } from '../ui/controls.ts'
import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import { loadStateView } from '../ui/panel.ts'
import { stationLink } from '../ui/route.ts'
import { hookChangedEvent } from './hook-card.ts'
import { toWebHook } from './hook.ts'

/** The web hooks of a station. */
export class StationHooks extends StationElement {
  static override properties = reactiveProperties<StationHooks>('canManage', 'item')
  declare canManage: boolean
  /** The web hook in the form: its id, or `new`; '' if the address names none. */
  declare item: string

  readonly #hooks = this.poll('webhooks', 5_000)

  constructor() {
    super()
    this.addEventListener(hookChangedEvent, () => void this.#hooks.refresh())
    watchAddressedForm(this, {
      item: () => this.item,
      scene: () => ({
        host: this,
        resource: webHooksResourceView,
        station: String(this.station),
        refresh: this.#hooks.refresh
      }),
      // The permissions are known before the hooks are.
      mayOpen: () => (this.#hooks.value === null ? null : this.canManage),
      linkTo: item => stationLink(String(this.station), 'hooks', item)
    })
  }

  protected override render() {
    const { value } = this.#hooks
    const add = buttonView('New web hook', () => {
      location.hash = stationLink(String(this.station), 'hooks', 'new')
    })
    return html`<h2 class="visually-hidden">Web hooks</h2>
      ${this.canManage ? html`<p class="list-actions">${add}</p>` : nothing} ${loadStateView(this.#hooks)}
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
                .hook=${toWebHook(hook)}
                .canManage=${this.canManage}
              ></hook-card>
            </li>`
        )}
      </ul>`
  }
}
