import { html, nothing } from 'lit'

import { pollResource } from '../api/poll-resource.ts'
import { type Chip, chipView, tableView } from '../ui/controls.ts'
import { LightElement, reactiveProperties } from '../ui/light-element.ts'
import { panelView } from '../ui/panel.ts'
import { describeDuration, formatNumber } from '../ui/text.ts'
import { formatLateness, type InstallationHealth, type QueueStatus } from './installation-status.ts'

/** The health of the stores, the queues, and the number of records. */
export class SystemHealth extends LightElement {
  static override properties = reactiveProperties<SystemHealth>('health', 'queues')
  declare health: InstallationHealth | null
  declare queues: readonly QueueStatus[] | null

  readonly #stats = pollResource(this, { path: () => 'api/stats', intervalMs: 30_000 })

  protected override render() {
    return panelView(
      { id: 'system', title: 'Health', resource: this.#stats },
      html`${this.#healthView()} ${this.#queuesView()} ${this.#countsView()}`
    )
  }

  #healthView() {
    if (this.health === null) return nothing
    const { postgres, redis, live_state: live } = this.health
    return html`<p class="chips">
      ${partView('Postgres', postgres === 'up', 'is down')}
      ${partView('Redis', redis === 'up', redis === 'down' ? 'is down' : 'is read-only')}
      ${partView('Live state', live === 'current', 'is stale')}
    </p>`
  }

  #queuesView() {
    if (this.queues === null) return nothing
    return tableView(
      ['Queue', 'Workers', ['Due', 'count'], ['Scheduled', 'count']],
      this.queues.map(
        queue =>
          html`<tr>
            <th scope="row">${queueNames[queue.name] ?? queue.name}</th>
            <td>${chipView(workersChip(queue))}</td>
            <td class="count">${formatNumber(queue.waiting + queue.overdue)}</td>
            <td class="count">${formatNumber(Math.max(0, queue.delayed - queue.overdue))}</td>
          </tr>`
      )
    )
  }

  #countsView() {
    const { value } = this.#stats
    if (value === null) return nothing
    const counts = [
      ['Songs', formatNumber(value.media)],
      ['Playlists', formatNumber(value.playlists)],
      ['Queued', formatNumber(value.queue)],
      ['Plays in 24 hours', formatNumber(value.history_24h)],
      ['Web hooks', formatNumber(value.webhooks)],
      ['Server uptime', describeDuration(value.uptime)],
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

const partView = (name: string, isUp: boolean, problem: string) =>
  chipView(isUp ? { text: name, tone: 'good' } : { text: `${name} ${problem}`, tone: 'bad' })

const queueNames: Readonly<Record<string, string>> = { advance: 'Song changes', deliver: 'Web hooks' }

function workersChip({ workers, late_ms: lateMs }: QueueStatus): Chip {
  if (workers === 0) return { text: 'None', tone: 'bad' }
  if (lateMs > 0) return { text: `${formatNumber(workers)}, ${formatLateness(lateMs)}`, tone: 'bad' }
  return { text: formatNumber(workers), tone: 'good' }
}
