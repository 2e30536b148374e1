import { html, nothing } from 'lit'

import { pollResource } from '../api/poll-resource.ts'
import { openActionRunner } from '../ui/actions.ts'
import { HookElement } from './hook-element.ts'
import { describeFailure, findLastAttempt, lastPage } from './hook.ts'

const intervalMs = 5_000
const perPage = 20

/**
 * The last attempt of a failing web hook and when it is retried; empty if the hook does not fail. The list
 * of deliveries may not reach back to it while many are pending.
 */
export class HookFailure extends HookElement {
  readonly #actions = openActionRunner(this)
  /** The oldest pending delivery is the one that is retried. */
  readonly #pending = pollResource(this, {
    path: () =>
      this.#deliveriesPath(`per_page=${perPage}&status=pending&page=${lastPage(this.hook.pending, perPage)}`),
    intervalMs
  })
  readonly #failed = pollResource(this, {
    path: () => this.#deliveriesPath('per_page=1&status=failed'),
    intervalMs
  })

  #deliveriesPath(query: `per_page=${string}`) {
    return this.hook.failures === 0 ? null : (`${this.hookPath}/deliveries?${query}` as const)
  }

  protected override render() {
    if (this.hook.failures === 0) return nothing
    const found = [...(this.#pending.value?.rows ?? []), ...(this.#failed.value?.rows ?? [])]
    const delivery = findLastAttempt(found)
    if (delivery === null) return nothing
    const { formatTime } = this.clock
    const { id, attempted_at: attemptedAt, next_attempt: nextAttempt, state, response } = delivery
    const refresh = () => Promise.all([this.#pending.refresh(), this.#failed.refresh()])
    return html`<div class="test-result" data-tone="bad">
      <p>
        <strong>${describeFailure(delivery)}</strong> Last attempt at ${formatTime(attemptedAt)}, for the
        event of ${formatTime(delivery.happened_at)}.
      </p>
      ${response === '' ? nothing : html`<pre class="response">${response}</pre>`}
      <p class="quiet">
        ${state === 'pending' && nextAttempt > 0 ? `Next attempt at ${formatTime(nextAttempt)}.` : nothing}
        ${state === 'failed' ? this.redeliverView(this.#actions, id, refresh) : nothing}
      </p>
    </div>`
  }
}
