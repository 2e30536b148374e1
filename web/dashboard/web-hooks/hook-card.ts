import { html, nothing } from 'lit'

import { callApi, done } from '../api/call-api.ts'
import { readFor } from '../api/poll-resource.ts'
import { actionFor, confirmed } from '../ui/actions.ts'
import { chipView } from '../ui/chip-view.ts'
import { isolated, LightElement } from '../ui/light-element.ts'
import { errorView } from '../ui/panel.ts'
import { counted } from '../ui/text.ts'
import { zoneTime } from '../ui/time.ts'
import { againView } from './hook-trouble.ts'
import {
  answerText,
  attemptText,
  deliveries,
  type Delivery,
  deliveryChip,
  type Hook,
  hookChip,
  lastAttempted,
  testResult,
  type TestResult,
  triggersText
} from './hook.ts'

const everyMs = 5_000
const rowsAtFirst = 5
/** How many more are shown each time they are asked for. */
const rowsMore = 25
const rowsAtMost = 500
/** The event that a hook is another one than it was. */
export const hookChanged = 'cuewire-hook-changed'

/** A receiver may take its time, and may be asked more than once. */
const testMs = 45_000

const sentAgain = new Set(['failed', 'expired', 'cancelled'])

/** A web hook: how it is, what it was told last, and a button that tries it. */
export class HookCard extends LightElement {
  static override properties = {
    station: { attribute: false },
    zone: { attribute: false },
    hook: { attribute: false },
    mayTell: { attribute: false },
    rows: { state: true },
    tested: { state: true }
  }
  declare station: string
  declare zone: string
  declare hook: Hook
  declare mayTell: boolean
  declare rows: number
  declare tested: TestResult | null

  readonly #acting = actionFor(this)
  readonly #deliveries = readFor(this, {
    schema: deliveries,
    path: () => `${this.#path}/deliveries?per_page=${this.rows}`,
    everyMs,
    occasion: () => `${this.hook.lastSentAt} ${this.hook.failures} ${this.hook.pending}`
  })

  constructor() {
    super()
    this.rows = rowsAtFirst
    this.tested = null
  }

  get #path(): string {
    return `api/station/${encodeURIComponent(this.station)}/webhook/${this.hook.id}`
  }

  protected override render() {
    const { id, name, type, triggers, state } = this.hook
    const last = lastAttempted(this.#deliveries.value?.rows ?? [])
    const isTestable = this.mayTell && state !== 'draft' && state !== 'retired'
    return html`<section class="panel hook" aria-labelledby="hook-${id}">
      <header class="panel-head">
        <div>
          <h3 class="hook-name" id="hook-${id}">${name || type}</h3>
          <p class="quiet">${type.replaceAll('_', ' ')} · ${triggersText(triggers)}</p>
        </div>
        ${chipView(hookChip(this.hook, last?.state ?? null))} ${isTestable ? this.#buttonsView() : nothing}
      </header>
      <hook-trouble
        .station=${this.station}
        .zone=${this.zone}
        .hook=${this.hook}
        .mayTell=${this.mayTell}
      ></hook-trouble>
      <div role="status">${this.tested === null ? nothing : testedView(this.tested)}</div>
      ${this.#deliveriesView()}
    </section>`
  }

  #buttonsView() {
    const { underWay } = this.#acting
    const isOn = this.hook.is_enabled
    return html`<div class="button-row">
      <button
        type="button"
        class="button"
        aria-busy=${underWay === 'toggle'}
        ?disabled=${underWay !== null}
        @click=${() => void this.#toggle()}
      >
        Switch ${isOn ? 'off' : 'on'}
      </button>
      <button
        type="button"
        class="button"
        aria-busy=${underWay === 'test'}
        ?disabled=${underWay !== null}
        @click=${() => void this.#test()}
      >
        ${underWay === 'test' ? 'Sending…' : 'Send a test'}
      </button>
    </div>`
  }

  #deliveriesView() {
    const { value } = this.#deliveries
    if (value?.rows.length === 0) return html`<p class="quiet">Nothing was sent yet.</p>`
    return html`${errorView(this.#deliveries)}
      <div
        class="scroll"
        role="region"
        aria-label="Deliveries of ${this.hook.name || this.hook.type}"
        tabindex="0"
      >
        <table class="table">
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col" class="wide">News</th>
              <th scope="col">State</th>
              <th scope="col" class="answer">Answer</th>
            </tr>
          </thead>
          <tbody>
            ${value?.rows.map(delivery => this.#rowView(delivery))}
          </tbody>
        </table>
      </div>
      ${
        value !== null && value.total > value.rows.length && this.rows < rowsAtMost
          ? html`<button type="button" class="button" @click=${() => (this.rows += rowsMore)}>
              More of ${counted(value.total, 'delivery', 'deliveries')}
            </button>`
          : nothing
      }`
  }

  #rowView(delivery: Delivery) {
    const {
      id,
      happened_at: at,
      triggers,
      state,
      attempts,
      status,
      error,
      duration_ms: ms,
      response
    } = delivery
    return html`<tr>
      <td class="row-time">${zoneTime(this.zone).time(at)}</td>
      <td class="wide">${triggersText(triggers)}</td>
      <td>${chipView(deliveryChip(state, attempts))}</td>
      <td class="answer">
        ${answerText(status, error, ms)}
        ${
          response === ''
            ? nothing
            : html`<details>
                <summary class="quiet">What it said</summary>
                <pre class="said">${response}</pre>
              </details>`
        }
        ${
          this.mayTell && this.hook.is_enabled && sentAgain.has(state)
            ? againView(this.#acting, `${this.#path}/delivery/${id}`, () => this.#deliveries.again())
            : nothing
        }
      </td>
    </tr>`
  }

  async #test(): Promise<void> {
    this.tested = null
    await this.#acting.act('test', async () => {
      this.tested = await callApi(testResult, `${this.#path}/test`, { method: 'PUT', timeoutMs: testMs })
      return ''
    })
  }

  async #toggle(): Promise<void> {
    const { is_enabled: isOn, name, type, pending } = this.hook
    const isMeant =
      !isOn ||
      (await confirmed({
        title: `Switch off “${isolated(name || type)}”?`,
        text:
          pending === 0 ? 'It is told nothing more.' : 'It is told nothing more, nor what waits to be sent.',
        verb: 'Switch off'
      }))
    if (!isMeant) return
    await this.#acting.act('toggle', async () => {
      const { message } = await callApi(done, `${this.#path}/toggle`, { method: 'PUT' })
      this.dispatchEvent(new Event(hookChanged, { bubbles: true }))
      await this.#deliveries.again()
      return message
    })
  }
}

function testedView({ success, message, sent, received }: TestResult) {
  const { status, duration_ms: ms, response } = received
  return html`<div class="tested" data-mood=${success ? 'good' : 'bad'}>
    <p>
      <strong>${success ? message : attemptText(received)}</strong>
      ${success ? answerText(status, '', ms) : ''}
    </p>
    ${response === '' ? nothing : html`<pre class="said">${response}</pre>`}
    ${
      sent.length === 0
        ? nothing
        : html`<details>
            <summary>What was sent</summary>
            ${sent.map(
              ({ method, url, body }) =>
                html`<p class="quiet">${method} ${url}</p>
                  <pre class="said">${body}</pre>`
            )}
          </details>`
    }
  </div>`
}
