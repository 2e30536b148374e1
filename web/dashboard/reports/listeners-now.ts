import { html, nothing } from 'lit'

import type { ConnectedListener, ListenerSummary } from '../api/responses.ts'
import { buttonView, tableView } from '../ui/controls.ts'
import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import { pagingView } from '../ui/paging.ts'
import { loadStateView, panelView } from '../ui/panel.ts'
import { describeDuration, formatCount, formatNumber } from '../ui/text.ts'

const intervalMs = 15_000

/** Who listens now: counts by mount, program, system and time, and the connections on request. */
export class ListenersNow extends StationElement {
  static override properties = reactiveProperties<ListenersNow>('isListOpen', 'page')
  isListOpen = false
  page = 1

  readonly #summary = this.poll('listeners/summary', intervalMs)
  readonly #connections = this.poll(
    () => (this.isListOpen ? (`listeners?per_page=50&page=${this.page}` as const) : null),
    intervalMs
  )

  protected override render() {
    const { value } = this.#summary
    const toggle = buttonView(
      this.isListOpen ? 'Hide connections' : 'Show connections',
      () => (this.isListOpen = !this.isListOpen),
      { style: 'link' }
    )
    return panelView(
      {
        id: 'listeners-now',
        title: 'Listeners now',
        resource: this.#summary,
        actions: value !== null && value.listed > 0 ? toggle : nothing
      },
      value === null ? nothing : html`${summaryView(value)} ${this.isListOpen ? this.#listView() : nothing}`
    )
  }

  #listView() {
    const { value } = this.#connections
    const rows = value?.rows ?? []
    const showsAddresses = rows.some(({ ip }) => ip !== '')
    return html`${loadStateView(this.#connections)}
      <div class="scroll" role="region" aria-label="Connections" tabindex="0">
        ${tableView(
          ['Program', ['System', 'wide'], 'Mount', 'Connected for', ...(showsAddresses ? ['Address'] : [])],
          rows.map(row => connectionView(row, showsAddresses))
        )}
      </div>
      ${pagingView(value, page => (this.page = page))}`
  }
}

function summaryView(summary: ListenerSummary) {
  const { total, unique, listed, problem } = summary
  const distinct = listed > 0 ? `, ${formatNumber(unique)} different` : ''
  return html`<p role="status">${formatCount(total, 'listener')}${distinct}</p>
    ${problem === '' ? nothing : html`<p class="trouble">${problem}</p>`}
    <div class="groups">
      ${groupView(
        'Mount',
        summary.by_mount.map(each => [
          each.mount_is_local ? each.mount_name : `${each.mount_name} (remote)`,
          each.total
        ])
      )}
      ${groupView(
        'Program',
        summary.by_client.map(each => [each.client, each.total])
      )}
      ${groupView(
        'System',
        summary.by_os.map(each => [each.os_family || 'Unknown', each.total])
      )}
      ${groupView('Connected for', describeTimes(summary.by_connected_time))}
    </div>`
}

type Count = readonly [name: string, total: number]

function describeTimes(times: ListenerSummary['by_connected_time']): Count[] {
  return times
    .map(({ from, total }, index): Count => {
      const next = times[index + 1]
      const name =
        from === 0 && next !== undefined
          ? `under ${describeDuration(next.from)}`
          : `over ${describeDuration(from)}`
      return [name, total]
    })
    .filter(([, total]) => total > 0)
}

const maxGroups = 12

function groupView(title: string, counts: readonly Count[]) {
  if (counts.length === 0) return nothing
  const most = Math.max(1, ...counts.map(([, total]) => total))
  const rows = counts.slice(0, maxGroups).map(
    ([name, total]) =>
      html`<tr>
        <td class="main share" .style=${`--share: ${((total / most) * 100).toFixed(1)}%`}>${name}</td>
        <td class="count">${formatNumber(total)}</td>
      </tr>`
  )
  return html`<div>${tableView([title, ['Listeners', 'count']], rows)}</div>`
}

const connectionView = ({ device, user_agent: agent, ...row }: ConnectedListener, showsAddresses: boolean) =>
  html`<tr>
    <td title=${agent}>${device.client}</td>
    <td class="wide quiet">${device.os_family}</td>
    <td>${row.mount_name}</td>
    <td>${describeDuration(row.connected_time)}</td>
    ${showsAddresses ? html`<td>${row.ip}</td>` : nothing}
  </tr>`
