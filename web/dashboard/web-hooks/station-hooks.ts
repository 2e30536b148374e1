import { html, nothing } from 'lit'
import { repeat } from 'lit/directives/repeat.js'

import { openRecordForm } from '../resources/record-actions.ts'
import { webHooks } from '../resources/web-hooks.ts'
import { openActionRunner } from '../ui/actions.ts'
import { buttonView } from '../ui/controls.ts'
import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import { loadStateView } from '../ui/panel.ts'
import { hookChangedEvent } from './hook-card.ts'
import { hooksSchema } from './hook.ts'

/** The web hooks of a station. */
export class StationHooks extends StationElement {
  static override properties = reactiveProperties('canManage')
  declare canManage: boolean

  readonly #actions = openActionRunner(this)
  readonly #hooks = this.poll('webhooks', hooksSchema, 5_000)

  constructor() {
    super()
    this.addEventListener(hookChangedEvent, () => void this.#hooks.refresh())
  }

  #add(): Promise<void> {
    const scene = {
      host: this,
      resource: webHooks,
      station: String(this.station),
      refresh: this.#hooks.refresh
    }
    return this.#actions.run('add', async () => {
      await openRecordForm(scene, null, true)
      return ''
    })
  }

  protected override render() {
    const { value } = this.#hooks
    const add = buttonView('New web hook', () => this.#add(), { isDisabled: this.#actions.inFlight !== null })
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
                .hook=${hook}
                .canManage=${this.canManage}
              ></hook-card>
            </li>`
        )}
      </ul>`
  }
}
