import { html } from 'lit'
import * as v from 'valibot'

import { chipView } from './chip-view.ts'
import { durationText, number } from './counted.ts'
import { LightElement } from './light-element.ts'
import { readFor } from './reading.ts'
import { troubleView } from './trouble-view.ts'

const everyMs = 15_000

const health = v.object({
  status: v.string(),
  postgres: v.string(),
  redis: v.string(),
  live_state: v.string()
})
const queues = v.object({
  queues: v.array(
    v.object({ name: v.string(), workers: v.number(), waiting: v.number(), delayed: v.number() })
  )
})
const stats = v.object({
  stations: v.number(),
  online: v.number(),
  media: v.number(),
  playlists: v.number(),
  queue: v.number(),
  history_24h: v.number(),
  webhooks: v.number(),
  uptime: v.number(),
  version: v.string()
})

/** Whether the parts of the installation are there, and how much there is of everything. */
export class SystemHealth extends LightElement {
  readonly #health = readFor(this, { schema: health, path: () => 'api/health', everyMs })
  readonly #queues = readFor(this, { schema: queues, path: () => 'api/queues', everyMs })
  readonly #stats = readFor(this, { schema: stats, path: () => 'api/stats', everyMs: everyMs * 2 })

  protected override render() {
    return html`<section class="panel" aria-labelledby="system">
      <h2 class="heading" id="system">System</h2>
      ${troubleView(this.#health)} ${this.#partsView()} ${this.#queuesView()} ${this.#countsView()}
    </section>`
  }

  #partsView() {
    const { value } = this.#health
    if (value === null) return ''
    const { postgres, redis, live_state: live } = value
    return html`<p class="chips">
      ${partView('Postgres', postgres === 'up', 'is down')} ${partView('Redis', redis === 'up', 'is down')}
      ${partView('Live state', live === 'current', 'is old')}
    </p>`
  }

  #queuesView() {
    const { value } = this.#queues
    if (value === null) return ''
    return html`<table class="table">
      <thead>
        <tr>
          <th scope="col">Queue</th>
          <th scope="col">Workers</th>
          <th scope="col" class="count">Due</th>
          <th scope="col" class="count">Later</th>
        </tr>
      </thead>
      <tbody>
        ${value.queues.map(
          ({ name, workers, waiting, delayed }) =>
            html`<tr>
              <th scope="row">${queueNames[name] ?? name}</th>
              <td>${chipView(workersChip(workers))}</td>
              <td class="count">${number(waiting)}</td>
              <td class="count">${number(delayed)}</td>
            </tr>`
        )}
      </tbody>
    </table>`
  }

  #countsView() {
    const { value } = this.#stats
    if (value === null) return ''
    const counts = [
      ['Songs', number(value.media)],
      ['Playlists', number(value.playlists)],
      ['Queued', number(value.queue)],
      ['Played in 24 hours', number(value.history_24h)],
      ['Web hooks', number(value.webhooks)],
      ['Server up for', durationText(value.uptime)],
      ['Version', value.version]
    ]
    return html`<dl class="facts">
      ${counts.map(
        ([name, text]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${text}</dd>
          </div>`
      )}
    </dl>`
  }
}

const partView = (name: string, isUp: boolean, bad: string) =>
  chipView(isUp ? { text: name, mood: 'good' } : { text: `${name} ${bad}`, mood: 'bad' })

const queueNames: Readonly<Record<string, string>> = { advance: 'Ends of songs', deliver: 'Web hooks' }

/** Without a worker no song ends, and no hook is told. */
const workersChip = (workers: number) =>
  workers === 0
    ? ({ text: 'None', mood: 'bad' } as const)
    : ({ text: number(workers), mood: 'good' } as const)
