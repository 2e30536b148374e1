import { html } from 'lit'
import * as v from 'valibot'

import { readFor } from '../api/poll-resource.ts'
import { chipView } from '../ui/chip-view.ts'
import { LightElement } from '../ui/light-element.ts'
import { errorView } from '../ui/panel.ts'
import { durationText, number } from '../ui/text.ts'
import { type Health, lateText, type Queue } from './installation-status.ts'

const everyMs = 30_000

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
  static override properties = { health: { attribute: false }, queues: { attribute: false } }
  declare health: Health | null
  declare queues: readonly Queue[] | null

  readonly #stats = readFor(this, { schema: stats, path: () => 'api/stats', everyMs })

  protected override render() {
    return html`<section class="panel" aria-labelledby="system">
      <h2 class="heading" id="system">System</h2>
      ${this.#partsView()} ${this.#queuesView()} ${errorView(this.#stats)} ${this.#countsView()}
    </section>`
  }

  #partsView() {
    if (this.health === null) return ''
    const { postgres, redis, live_state: live } = this.health
    return html`<p class="chips">
      ${partView('Postgres', postgres === 'up', 'is down')}
      ${partView('Redis', redis === 'up', redis === 'down' ? 'is down' : 'takes no writes')}
      ${partView('Live state', live === 'current', 'is old')}
    </p>`
  }

  #queuesView() {
    if (this.queues === null) return ''
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
        ${this.queues.map(
          queue =>
            html`<tr>
              <th scope="row">${queueNames[queue.name] ?? queue.name}</th>
              <td>${chipView(workersChip(queue))}</td>
              <td class="count">${number(queue.waiting + queue.overdue)}</td>
              <td class="count">${number(Math.max(0, queue.delayed - queue.overdue))}</td>
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
function workersChip({ workers, late_ms: lateMs }: Queue) {
  if (workers === 0) return { text: 'None', mood: 'bad' } as const
  if (lateMs > 0) return { text: `${number(workers)}, ${lateText(lateMs)}`, mood: 'bad' } as const
  return { text: number(workers), mood: 'good' } as const
}
