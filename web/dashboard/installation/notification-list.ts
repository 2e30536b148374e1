import { html, nothing } from 'lit'
import { repeat } from 'lit/directives/repeat.js'

import { callApi } from '../api/call-api.ts'
import { pollResource } from '../api/poll-resource.ts'
import type { Notification } from '../api/responses.ts'
import { type ConfirmOptions, openActionRunner } from '../ui/actions.ts'
import { buttonView } from '../ui/controls.ts'
import { LightElement, reactiveProperties } from '../ui/light-element.ts'
import { panelView } from '../ui/panel.ts'
import { formatAge, formatNumber, isolateBidi } from '../ui/text.ts'

const initialRows = 20
/** The rows that each click on "Show older" adds. */
const moreRows = 50
const maxRows = 500
/** Longer notifications are truncated until they are expanded. */
const truncatedLength = 200
const path = 'api/v1/main/notifications'

/** The notifications of the system and of operators. */
export class NotificationList extends LightElement {
  static override properties = reactiveProperties<NotificationList>('canManage', 'rows', 'expanded')
  declare canManage: boolean
  rows = initialRows
  /** The ids of the expanded notifications. */
  expanded: ReadonlySet<string> = new Set()

  readonly #notifications = pollResource(this, {
    path: () => `${path}?per_page=${this.rows}`,
    intervalMs: 20_000
  })
  readonly #actions = openActionRunner(this)

  protected override render() {
    const { value } = this.#notifications
    const list = value?.notifications ?? []
    const hasUnread = list.some(each => !each.is_read)
    const hasRead = list.some(each => each.is_read)
    const actions = html`
      ${hasUnread ? this.#actionView('Mark all as read', () => this.#markAll()) : nothing}
      ${hasRead ? this.#actionView('Delete read notifications', () => this.#deleteRead()) : nothing}
    `
    const hasMore = value !== null && value.total > list.length && this.rows < maxRows
    const emptyText = value?.total === 0 ? 'There are no notifications.' : ''
    return panelView(
      { id: 'notifications', title: 'Notifications', resource: this.#notifications, emptyText, actions },
      html`<ul class="notifications">
          ${repeat(
            list,
            each => each.notification_id,
            each => this.#rowView(each)
          )}
        </ul>
        ${hasMore ? buttonView(`Show older of ${formatNumber(value.total)}`, () => (this.rows += moreRows)) : nothing}`
    )
  }

  #rowView(notification: Notification) {
    const { notification_id: id, title, body, type, is_read: isRead, created_at: createdAt } = notification
    const isTruncated = title.length + body.length > truncatedLength && !this.expanded.has(id)
    const expand = () => (this.expanded = new Set([...this.expanded, id]))
    const toggleRead = () =>
      this.#change(() => callApi('PUT', `${path}/${id}`, { body: { is_read: !isRead } }))
    const question = { title: 'Delete this notification?', text: isolateBidi(title), verb: 'Delete' }
    return html`<li class="notification" data-type=${type} ?data-read=${isRead} ?data-cut=${isTruncated}>
      <p class="notification-title">
        <span class="visually-hidden">${types[type] ?? type}${isRead ? '' : ', unread'}: </span>${title}
      </p>
      ${body === '' ? nothing : html`<p class="notification-body">${body}</p>`}
      <p class="notification-foot quiet">
        ${formatAge(createdAt)}
        ${isTruncated ? buttonView(labelView('More', title), expand, { style: 'link' }) : nothing}
        ${this.#actionView(labelView(isRead ? 'Mark as unread' : 'Mark as read', title), toggleRead)}
        ${this.#actionView(labelView('Delete', title), () => this.#change(() => callApi('DELETE', `${path}/${id}`), question))}
      </p>
    </li>`
  }

  #actionView(content: unknown, onClick: () => Promise<void>) {
    if (!this.canManage) return nothing
    return buttonView(content, onClick, { style: 'link', isDisabled: this.#actions.inFlight !== null })
  }

  /** The API has no bulk update: marks one after the other. */
  #markAll(): Promise<void> {
    return this.#change(async () => {
      const unread = await callApi('GET', `${path}?per_page=${maxRows}&is_read=false`)
      for (const { notification_id: id } of unread.notifications)
        await callApi('PUT', `${path}/${id}`, { body: { is_read: true } })
    })
  }

  #deleteRead(): Promise<void> {
    const title = 'Delete all read notifications?'
    const question = { title, text: 'They are deleted for all operators.', verb: 'Delete' }
    return this.#change(() => callApi('POST', `${path}/bulk-delete`, { body: { is_read: true } }), question)
  }

  #change(work: () => Promise<unknown>, question?: ConfirmOptions): Promise<void> {
    const changeAndRefresh = async () => {
      await work()
      await this.#notifications.refresh()
      return ''
    }
    return this.#actions.run('change', changeAndRefresh, question)
  }
}

/** A label that names the notification to screen readers only. */
const labelView = (text: string, title: string) =>
  html`${text}<span class="visually-hidden">: ${title.slice(0, truncatedLength)}</span>`

const types: Readonly<Record<string, string>> = {
  info: 'Information',
  success: 'Success',
  warning: 'Warning',
  danger: 'Error'
}
