import { html, nothing } from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import * as v from 'valibot'

import { callApi } from '../api/call-api.ts'
import { readFor } from '../api/poll-resource.ts'
import { actionFor, confirmed } from '../ui/actions.ts'
import { isolated, LightElement } from '../ui/light-element.ts'
import { errorView } from '../ui/panel.ts'
import { agoText, number } from '../ui/text.ts'

const everyMs = 20_000
const rowsAtFirst = 20
/** How many more are shown each time they are asked for. */
const rowsMore = 50
const rowsAtMost = 500
/** Longer ones are cut until they are opened. */
const shownLength = 200
const path = 'api/v1/main/notifications'

const notifications = v.object({
  total: v.number(),
  notifications: v.array(
    v.object({
      notification_id: v.string(),
      title: v.string(),
      body: v.string(),
      type: v.string(),
      is_read: v.boolean(),
      created_at: v.number()
    })
  )
})
type Notification = v.InferOutput<typeof notifications>['notifications'][number]

/** What the system and operators tell the operators. */
export class NotificationList extends LightElement {
  static override properties = {
    maySettle: { attribute: false },
    rows: { state: true },
    opened: { state: true }
  }
  declare maySettle: boolean
  declare rows: number
  /** The ids of those that are shown whole. */
  declare opened: ReadonlySet<string>

  readonly #notifications = readFor(this, {
    schema: notifications,
    path: () => `${path}?per_page=${this.rows}`,
    everyMs
  })
  readonly #acting = actionFor(this)

  constructor() {
    super()
    this.rows = rowsAtFirst
    this.opened = new Set()
  }

  protected override render() {
    const { value } = this.#notifications
    const hasRead = value?.notifications.some(each => each.is_read) ?? false
    const hasUnread = value?.notifications.some(each => !each.is_read) ?? false
    return html`<section class="panel" aria-labelledby="notifications">
      <header class="panel-head">
        <h2 class="heading" id="notifications">Notifications</h2>
        ${hasUnread ? this.#settleView('Mark all as read', () => this.#markAll()) : nothing}
        ${hasRead ? this.#settleView('Delete those that were read', () => this.#deleteRead()) : nothing}
      </header>
      ${errorView(this.#notifications)}
      ${value?.total === 0 ? html`<p class="quiet">There is nothing to report.</p>` : nothing}
      <ul class="notifications">
        ${repeat(
          value?.notifications ?? [],
          each => each.notification_id,
          each => this.#rowView(each)
        )}
      </ul>
      ${
        value !== null && value.total > value.notifications.length && this.rows < rowsAtMost
          ? html`<button type="button" class="button" @click=${() => (this.rows += rowsMore)}>
              Show older of ${number(value.total)}
            </button>`
          : nothing
      }
    </section>`
  }

  #settleView(text: string, settle: () => Promise<void>) {
    if (!this.maySettle) return nothing
    return html`<button
      type="button"
      class="link"
      ?disabled=${this.#acting.underWay !== null}
      @click=${() => void settle()}
    >
      ${text}
    </button>`
  }

  #rowView(notification: Notification) {
    const { notification_id: id, title, body, type, is_read: isRead, created_at: at } = notification
    const isCut = title.length + body.length > shownLength && !this.opened.has(id)
    return html`<li class="notification" data-type=${type} ?data-read=${isRead} ?data-cut=${isCut}>
      <p class="notification-title">
        <span class="only-heard">${types[type] ?? type}${isRead ? '' : ', not read'}: </span>${title}
      </p>
      ${body === '' ? nothing : html`<p class="notification-body">${body}</p>`}
      <p class="notification-foot quiet">
        ${agoText(at)} ${isCut ? this.#moreView(notification) : nothing}
        ${this.maySettle ? this.#buttonsView(notification) : nothing}
      </p>
    </li>`
  }

  #moreView({ notification_id: id, title }: Notification) {
    return html`<button
      type="button"
      class="link"
      @click=${() => (this.opened = new Set([...this.opened, id]))}
    >
      More<span class="only-heard">: ${title.slice(0, shownLength)}</span>
    </button>`
  }

  #buttonsView(notification: Notification) {
    const { is_read: isRead, title } = notification
    const isBusy = this.#acting.underWay !== null
    return html`<button
        type="button"
        class="link"
        ?disabled=${isBusy}
        @click=${() => void this.#mark(notification)}
      >
        ${isRead ? 'Mark as not read' : 'Mark as read'}<span class="only-heard">: ${title}</span>
      </button>
      <button type="button" class="link" ?disabled=${isBusy} @click=${() => void this.#delete(notification)}>
        Delete<span class="only-heard">: ${title}</span>
      </button>`
  }

  #mark({ notification_id: id, is_read: isRead }: Notification): Promise<void> {
    return this.#change(() =>
      callApi(v.unknown(), `${path}/${id}`, { method: 'PUT', body: { is_read: !isRead } })
    )
  }

  async #delete({ notification_id: id, title }: Notification): Promise<void> {
    const isMeant = await confirmed({
      title: 'Delete this notification?',
      text: isolated(title),
      verb: 'Delete'
    })
    if (isMeant) await this.#change(() => callApi(v.unknown(), `${path}/${id}`, { method: 'DELETE' }))
  }

  /** One after the other: there is no word for all of them. */
  #markAll(): Promise<void> {
    return this.#change(async () => {
      const unread = await callApi(notifications, `${path}?is_read=false&per_page=${rowsAtMost}`)
      for (const { notification_id: id } of unread.notifications)
        await callApi(v.unknown(), `${path}/${id}`, { method: 'PUT', body: { is_read: true } })
    })
  }

  async #deleteRead(): Promise<void> {
    const isMeant = await confirmed({
      title: 'Delete all notifications that were read?',
      text: 'They are gone for all operators.',
      verb: 'Delete them'
    })
    if (!isMeant) return
    await this.#change(() =>
      callApi(v.unknown(), `${path}/bulk-delete`, { method: 'POST', body: { is_read: true } })
    )
  }

  #change(work: () => Promise<unknown>): Promise<void> {
    return this.#acting.act('change', async () => {
      await work()
      await this.#notifications.again()
      return ''
    })
  }
}

const types: Readonly<Record<string, string>> = {
  info: 'News',
  success: 'Good news',
  warning: 'Warning',
  danger: 'Trouble'
}
