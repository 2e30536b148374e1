import { html } from 'lit'
import { repeat } from 'lit/directives/repeat.js'

import { serverAvailabilityEvent } from '../api/poll-resource.ts'
import { type Notice, noticeEvent } from '../ui/actions.ts'
import { buttonView } from '../ui/controls.ts'
import { LightElement, reactiveProperties } from '../ui/light-element.ts'

/** How long a notice is displayed while the operator can see it. An error takes longer to read. */
const displayMs = 6_000
const errorDisplayMs = 15_000
/** How often the time is counted. */
const tickMs = 500
const maxNotices = 4

/** Displays the notices of all elements. There is one, for as long as the page exists. */
export class NoticeList extends LightElement {
  static override properties = reactiveProperties<NoticeList>('notices')
  notices: readonly (Notice & { readonly id: number; readonly leftMs: number })[] = []
  #lastId = 0
  #timer: ReturnType<typeof setTimeout> | undefined

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
    const leftMs = notice.isError ? errorDisplayMs : displayMs
    this.notices = [...this.notices, { ...notice, id, leftMs }].slice(-maxNotices)
    this.#schedule()
  }

  /** Counts the time while there are notices, but not while the page is hidden or the operator is on a notice. */
  #schedule(): void {
    clearTimeout(this.#timer)
    if (this.notices.length > 0) this.#timer = setTimeout(() => this.#tick(), tickMs)
  }

  #tick(): void {
    if (!document.hidden && !this.matches(':has(.notice:is(:hover, :focus-within))'))
      this.notices = this.notices
        .map(notice => ({ ...notice, leftMs: notice.leftMs - tickMs }))
        .filter(({ leftMs }) => leftMs > 0)
    this.#schedule()
  }

  readonly #removeConnectionErrors = ({ detail: isAvailable }: CustomEvent<boolean>) => {
    if (isAvailable) this.notices = this.notices.filter(({ isConnectionError }) => isConnectionError !== true)
  }

  #remove(id: number): void {
    this.notices = this.notices.filter(each => each.id !== id)
  }
}
