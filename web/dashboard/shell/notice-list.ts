import { html } from 'lit'
import { repeat } from 'lit/directives/repeat.js'

import { onServerChange } from '../api/server-change.ts'
import { LightElement } from '../ui/light-element.ts'
import type { Notice } from '../ui/notice.ts'

/** Good news may be missed. */
const shownMs = 6_000

interface Shown extends Notice {
  readonly id: number
}

/** What is said to the operator in passing; what is bad stays until it was read. */
export class NoticeList extends LightElement {
  static override properties = { shown: { state: true } }
  declare shown: readonly Shown[]
  #lastId = 0
  #stopHearing = () => {}

  constructor() {
    super()
    this.shown = []
  }

  override connectedCallback(): void {
    super.connectedCallback()
    this.#stopHearing = onServerChange(isThere => {
      if (isThere) this.shown = this.shown.filter(({ isOfSilence }) => isOfSilence !== true)
    })
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.#stopHearing()
  }

  say(notice: Notice): void {
    const id = (this.#lastId += 1)
    this.shown = [...this.shown.slice(-3), { ...notice, id }]
    if (!notice.isBad) setTimeout(() => this.#forget(id), shownMs)
  }

  protected override render() {
    return html`<div class="notices" role="status">
      ${repeat(
        this.shown,
        ({ id }) => id,
        ({ id, text, isBad }) =>
          html`<p class="notice" data-mood=${isBad ? 'bad' : 'good'}>
            <span>${text}</span>
            <button type="button" class="icon-button" aria-label="Close" @click=${() => this.#forget(id)}>
              ×
            </button>
          </p>`
      )}
    </div>`
  }

  #forget(id: number): void {
    this.shown = this.shown.filter(each => each.id !== id)
  }
}
