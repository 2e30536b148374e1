import { html, nothing } from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import * as v from 'valibot'

import { actFor } from './acting.ts'
import { ask } from './ask.ts'
import { confirmed } from './confirm.ts'
import { agoText } from './counted.ts'
import { LightElement } from './light-element.ts'
import { readFor } from './reading.ts'
import { troubleView } from './trouble-view.ts'

const everyMs = 20_000
const rows = 20
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
  static override properties = { maySettle: { attribute: false } }
  declare maySettle: boolean

  readonly #notifications = readFor(this, {
    schema: notifications,
    path: () => `${path}?per_page=${rows}`,
    everyMs
  })
  readonly #acting = actFor(this)

  protected override render() {
    const { value } = this.#notifications
    const hasRead = value?.notifications.some(each => each.is_read) ?? false
    return html`<section class="panel" aria-labelledby="notifications">
      <header class="panel-head">
        <h2 class="heading" id="notifications">Notifications</h2>
        ${
          hasRead && this.maySettle
            ? html`<button
                type="button"
                class="link"
                ?disabled=${this.#acting.underWay !== null}
                @click=${() => void this.#deleteRead()}
              >
                Delete those that were read
              </button>`
            : nothing
        }
      </header>
      ${troubleView(this.#notifications)}
      ${value?.total === 0 ? html`<p class="quiet">There is nothing to report.</p>` : nothing}
      <ul class="notifications">
        ${repeat(
          value?.notifications ?? [],
          each => each.notification_id,
          each => this.#rowView(each)
        )}
      </ul>
      ${value && value.total > rows ? html`<p class="quiet">and ${value.total - rows} older ones</p>` : nothing}
    </section>`
  }

  #rowView(notification: Notification) {
    const { title, body, type, is_read: isRead, created_at: at } = notification
    return html`<li class="notification" data-type=${type} ?data-read=${isRead}>
      <p class="notification-title">
        <span class="only-heard">${types[type] ?? type}${isRead ? '' : ', not read'}: </span>${title}
      </p>
      ${body === '' ? nothing : html`<p class="notification-body">${body}</p>`}
      <p class="notification-foot quiet">
        ${agoText(at)} ${this.maySettle ? this.#buttonsView(notification) : nothing}
      </p>
    </li>`
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
      ask(v.unknown(), `${path}/${id}`, { method: 'PUT', body: { is_read: !isRead } })
    )
  }

  async #delete({ notification_id: id, title }: Notification): Promise<void> {
    const isMeant = await confirmed({ title: 'Delete this notification?', text: title, verb: 'Delete' })
    if (isMeant) await this.#change(() => ask(v.unknown(), `${path}/${id}`, { method: 'DELETE' }))
  }

  async #deleteRead(): Promise<void> {
    const isMeant = await confirmed({
      title: 'Delete all notifications that were read?',
      text: 'They are gone for all operators.',
      verb: 'Delete them'
    })
    if (!isMeant) return
    await this.#change(() =>
      ask(v.unknown(), `${path}/bulk-delete`, { method: 'POST', body: { is_read: true } })
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
