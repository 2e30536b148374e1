import { html, nothing } from 'lit'

import { callApi, done } from '../api/call-api.ts'
import { readFor } from '../api/poll-resource.ts'
import { actionFor, type PendingAction } from '../ui/actions.ts'
import { LightElement } from '../ui/light-element.ts'
import { zoneTime } from '../ui/time.ts'
import { attemptText, deliveries, type Hook, lastAttempted, oldestPage } from './hook.ts'

const everyMs = 5_000
const rows = 20

/**
 * Of a web hook that fails: the last attempt, and what becomes of it. Those that only wait would hide it in
 * the list.
 */
export class HookTrouble extends LightElement {
  static override properties = {
    station: { attribute: false },
    zone: { attribute: false },
    hook: { attribute: false },
    mayTell: { attribute: false }
  }
  declare station: string
  declare zone: string
  declare hook: Hook
  declare mayTell: boolean

  readonly #acting = actionFor(this)
  /** What is tried again is the oldest of what waits. */
  readonly #pending = readFor(this, {
    schema: deliveries,
    path: () => this.#pathOf(`status=pending&per_page=${rows}&page=${oldestPage(this.hook.pending, rows)}`),
    everyMs
  })
  readonly #failed = readFor(this, {
    schema: deliveries,
    path: () => this.#pathOf('status=failed&per_page=1'),
    everyMs
  })

  get #path(): string {
    return `api/station/${encodeURIComponent(this.station)}/webhook/${this.hook.id}`
  }

  #pathOf(query: string): string | null {
    return this.hook.failures === 0 ? null : `${this.#path}/deliveries?${query}`
  }

  protected override render() {
    if (this.hook.failures === 0) return nothing
    const found = [...(this.#pending.value?.rows ?? []), ...(this.#failed.value?.rows ?? [])]
    const delivery = lastAttempted(found)
    if (delivery === null) return nothing
    const { time } = zoneTime(this.zone)
    const { id, attempted_at: at, next_attempt: next, state, response } = delivery
    return html`<div class="tested" data-mood="bad">
      <p>
        <strong>${attemptText(delivery)}</strong> Tried ${time(at)} with news of
        ${time(delivery.happened_at)}.
      </p>
      ${response === '' ? nothing : html`<pre class="said">${response}</pre>`}
      <p class="quiet">
        ${state === 'pending' && next > 0 ? `It is tried again ${time(next)}.` : nothing}
        ${
          state === 'failed' && this.mayTell && this.hook.is_enabled
            ? againView(this.#acting, `${this.#path}/delivery/${id}`, () =>
                Promise.all([this.#pending.again(), this.#failed.again()])
              )
            : nothing
        }
      </p>
    </div>`
  }
}

/** A button that sends a delivery again, which is at `path`; `readAgain` brings what becomes of it. */
export function againView(acting: PendingAction, path: string, readAgain: () => Promise<unknown>) {
  const send = () =>
    acting.act('send again', async () => {
      const { message } = await callApi(done, `${path}/redeliver`, { method: 'POST' })
      await readAgain()
      return message
    })
  return html`<button
    type="button"
    class="link"
    ?disabled=${acting.underWay !== null}
    @click=${() => void send()}
  >
    Send again
  </button>`
}
