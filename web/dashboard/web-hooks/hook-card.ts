import { html, nothing } from 'lit'

import { callAction, callApi } from '../api/call-api.ts'
import { pollResource } from '../api/poll-resource.ts'
import type { WebhookDelivery, WebhookTest } from '../api/responses.ts'
import { type RecordContext, removeRecord } from '../resources/record-actions.ts'
import { webHooksResourceView } from '../resources/web-hooks.ts'
import { openActionRunner } from '../ui/actions.ts'
import { buttonView, chipView, tableView } from '../ui/controls.ts'
import { reactiveProperties } from '../ui/light-element.ts'
import { loadStateView } from '../ui/panel.ts'
import { stationLink } from '../ui/route.ts'
import { formatCount, isolateBidi } from '../ui/text.ts'
import { HookElement } from './hook-element.ts'
import {
  deliveryChip,
  describeFailure,
  findLastAttempt,
  formatResponse,
  formatTriggers,
  hookChip
} from './hook.ts'

const initialRows = 5
/** The rows that each click on "Show more" adds. */
const moreRows = 25
const maxRows = 500
/** A test may try the receiver several times. */
const testTimeoutMs = 45_000

/** Dispatched when a hook was changed, copied or deleted. */
export const hookChangedEvent = 'cuewire-hook-changed'

const redeliverableStates = new Set(['failed', 'expired', 'cancelled'])

/** A web hook with its deliveries, a test, and a switch. */
export class HookCard extends HookElement {
  static override properties = reactiveProperties<HookCard>('rows', 'testResult')
  rows = initialRows
  testResult: WebhookTest | null = null

  readonly #actions = openActionRunner(this)
  readonly #deliveries = pollResource(this, {
    path: () => `${this.hookPath}/deliveries?per_page=${this.rows}`,
    intervalMs: 5_000,
    refreshKey: () => `${this.hook.lastSentAt} ${this.hook.failures} ${this.hook.pending}`
  })

  get #title(): string {
    return this.hook.name || this.hook.type
  }

  protected override render() {
    const { id, type, triggers, state } = this.hook
    const last = findLastAttempt(this.#deliveries.value?.rows ?? [])
    const canSend = state !== 'draft' && state !== 'retired'
    return html`<section class="panel hook" aria-labelledby="hook-${id}">
      <header class="panel-head">
        <div>
          <h3 class="hook-name" id="hook-${id}">${this.#title}</h3>
          <p class="quiet">${type.replaceAll('_', ' ')} · ${formatTriggers(triggers)}</p>
        </div>
        ${chipView(hookChip(this.hook, last?.state ?? null))}
        ${this.canManage ? this.#buttonsView(canSend) : nothing}
      </header>
      <hook-failure
        .station=${this.station}
        .zone=${this.zone}
        .hook=${this.hook}
        .canManage=${this.canManage}
      ></hook-failure>
      <div role="status">${this.testResult === null ? nothing : testResultView(this.testResult)}</div>
      ${this.#deliveriesView()}
    </section>`
  }

  #buttonsView(canSend: boolean) {
    const { inFlight } = this.#actions
    const options = (name: string) => ({ isBusy: inFlight === name, isDisabled: inFlight !== null })
    const sendViews = html`
      ${buttonView(this.hook.is_enabled ? 'Disable' : 'Enable', () => this.#toggle(), options('toggle'))}
      ${buttonView(inFlight === 'test' ? 'Sending…' : 'Send a test', () => this.#test(), options('test'))}
    `
    return html`<div class="button-row">
      ${canSend ? sendViews : nothing} ${buttonView('Edit', () => this.#edit(), options('edit'))}
      ${buttonView('Copy', () => this.#copy(), options('copy'))}
      ${buttonView('Delete', () => this.#remove(), options('remove'))}
    </div>`
  }

  get #scene(): RecordContext {
    return {
      host: this,
      resource: webHooksResourceView,
      station: String(this.station),
      refresh: this.#refreshHooks
    }
  }

  readonly #refreshHooks = async () => {
    this.dispatchEvent(new Event(hookChangedEvent, { bubbles: true }))
  }

  #edit(): void {
    location.hash = stationLink(String(this.station), 'hooks', String(this.hook.id))
  }

  /** The server copies a hook, because the page does not know its secrets. */
  #copy(): Promise<void> {
    const copy = async () => {
      await callApi('POST', `${this.hookPath}/clone`)
      await this.#refreshHooks()
      return 'The copy is disabled, and has no secrets.'
    }
    return this.#actions.run('copy', copy)
  }

  #remove(): Promise<void> {
    return removeRecord(this.#scene, this.#actions, { ...this.hook })
  }

  #deliveriesView() {
    const { value } = this.#deliveries
    if (value?.rows.length === 0) return html`<p class="quiet">There are no deliveries yet.</p>`
    const rows = value?.rows.map(delivery => this.#rowView(delivery))
    const hasMore = value !== null && value.total > value.rows.length && this.rows < maxRows
    const moreText = `Show more of ${formatCount(value?.total ?? 0, 'delivery', 'deliveries')}`
    return html`${loadStateView(this.#deliveries)}
      <div class="scroll" role="region" aria-label="Deliveries of ${this.#title}" tabindex="0">
        ${tableView(['Time', ['Event', 'wide'], 'State', ['Response', 'answer']], rows)}
      </div>
      ${hasMore ? buttonView(moreText, () => (this.rows += moreRows)) : nothing}`
  }

  #rowView(delivery: WebhookDelivery) {
    const { id, happened_at: happenedAt, triggers, state, response } = delivery
    return html`<tr>
      <td class="row-time">${this.clock.formatTime(happenedAt)}</td>
      <td class="wide">${formatTriggers(triggers)}</td>
      <td>${chipView(deliveryChip(delivery))}</td>
      <td class="answer">
        ${formatResponse(delivery)}
        ${
          response === ''
            ? nothing
            : html`<details>
                <summary class="quiet">Response body</summary>
                <pre class="response">${response}</pre>
              </details>`
        }
        ${redeliverableStates.has(state) ? this.redeliverView(this.#actions, id, this.#deliveries.refresh) : nothing}
      </td>
    </tr>`
  }

  async #test(): Promise<void> {
    this.testResult = null
    await this.#actions.run('test', async () => {
      this.testResult = await callApi('PUT', `${this.hookPath}/test`, { timeoutMs: testTimeoutMs })
      return ''
    })
  }

  async #toggle(): Promise<void> {
    const { is_enabled: isEnabled, pending } = this.hook
    const question = {
      title: `Disable “${isolateBidi(this.#title)}”?`,
      text: `It receives no more events${pending === 0 ? '' : ', and its pending deliveries are not sent'}.`,
      verb: 'Disable'
    }
    const refresh = () => {
      this.dispatchEvent(new Event(hookChangedEvent, { bubbles: true }))
      return this.#deliveries.refresh()
    }
    const toggle = () => callAction('PUT', `${this.hookPath}/toggle`, { refresh })
    await this.#actions.run('toggle', toggle, isEnabled ? question : null)
  }
}

function testResultView({ success, message, sent, received }: WebhookTest) {
  const { response } = received
  return html`<div class="test-result" data-tone=${success ? 'good' : 'bad'}>
    <p>
      <strong>${success ? message : describeFailure(received)}</strong>
      ${success ? formatResponse(received) : ''}
    </p>
    ${response === '' ? nothing : html`<pre class="response">${response}</pre>`}
    ${
      sent.length === 0
        ? nothing
        : html`<details>
            <summary>Request</summary>
            ${sent.map(
              ({ method, url, body }) =>
                html`<p class="quiet">${method} ${url}</p>
                  <pre class="response">${body}</pre>`
            )}
          </details>`
    }
  </div>`
}
