import { html } from 'lit'
import { repeat } from 'lit/directives/repeat.js'

import { serverAvailabilityEvent } from '../api/poll-resource.ts'
import { type Notice, noticeEvent } from '../ui/actions.ts'
import { buttonView } from '../ui/controls.ts'
import { LightElement, reactiveProperties } from '../ui/light-element.ts'

/** How long a notice that is not an error is displayed. */
const displayMs = 6_000
const maxNotices = 4

/** Displays the notices of all elements. There is one, for as long as the page exists. */
export class NoticeList extends LightElement {
  static override properties = reactiveProperties('notices')
  notices: readonly (Notice & { readonly id: number })[] = []
  #lastId = 0

  constructor() {
    super()
    document.addEventListener(noticeEvent, this.#add)
    document.addEventListener(serverAvailabilityEvent, this.#removeConnectionErrors)
  }

  protected override render() {
    return html`<div class="notices" role="status">
      ${repeat(
        this.notices,
        ({ id }) => id,
        ({ id, text, isError }) =>
          html`<p class="notice" data-tone=${isError ? 'bad' : 'good'}>
            <span>${text}</span>
            ${buttonView('×', () => this.#remove(id), { style: 'icon-button', label: 'Close' })}
          </p>`
      )}
    </div>`
  }

  readonly #add = ({ detail: notice }: CustomEvent<Notice>) => {
    const id = (this.#lastId += 1)
    this.notices = [...this.notices, { ...notice, id }].slice(-maxNotices)
    if (!notice.isError) setTimeout(() => this.#remove(id), displayMs)
  }

  readonly #removeConnectionErrors = ({ detail: isAvailable }: CustomEvent<boolean>) => {
    if (isAvailable) this.notices = this.notices.filter(({ isConnectionError }) => isConnectionError !== true)
  }

  #remove(id: number): void {
    this.notices = this.notices.filter(each => each.id !== id)
  }
}
