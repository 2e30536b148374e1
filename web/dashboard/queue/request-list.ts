import { html, nothing } from 'lit'

import { callAction } from '../api/call-api.ts'
import type { SongRequest } from '../api/responses.ts'
import { openActionRunner } from '../ui/actions.ts'
import { buttonView, tableView } from '../ui/controls.ts'
import { filtersView } from '../ui/filters.ts'
import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import { pagingView, renderQueryString } from '../ui/paging.ts'
import { panelView } from '../ui/panel.ts'
import { isolateBidi } from '../ui/text.ts'
import { requestQueueAddition } from './add-to-queue.ts'

const stateTexts: Readonly<Record<string, string>> = {
  pending: 'Waiting',
  queued: 'In the queue',
  aired: 'Played',
  cancelled: 'Canceled',
  expired: 'Expired'
}

/** The requests of listeners. Those that were not played yet can be canceled, waiting ones queued by hand. */
export class RequestList extends StationElement {
  static override properties = reactiveProperties<RequestList>('canManage', 'type', 'page')
  declare canManage: boolean
  type = 'pending'
  page = 1

  readonly #requests = this.poll(
    () => `reports/requests?per_page=25&${renderQueryString({ type: this.type, page: this.page })}`,
    15_000
  )
  readonly #actions = openActionRunner(this)

  protected override render() {
    const { value } = this.#requests
    const rows = value?.rows ?? []
    const canEdit = this.canManage && this.type === 'pending'
    const clearButton = buttonView('Cancel all', () => this.#cancelAll(), {
      style: 'link',
      isDisabled: this.#actions.inFlight !== null
    })
    return panelView(
      {
        id: 'requests',
        title: 'Requests',
        resource: this.#requests,
        emptyText: value?.rows.length === 0 ? 'There are no requests.' : '',
        actions: canEdit && rows.length > 0 ? clearButton : nothing
      },
      html`${filtersView(
        'requests',
        'Requests to show',
        [
          {
            name: 'type',
            label: 'Show',
            options: [
              ['pending', 'Not played yet'],
              ['history', 'Past requests']
            ]
          }
        ],
        ({ type = 'pending' }) => {
          this.type = type
          this.page = 1
        }
      )}
      ${
        rows.length === 0
          ? nothing
          : html`<div class="scroll" role="region" aria-label="Table of requests" tabindex="0">
              ${tableView(
                ['Time', 'Song', ['From', 'wide'], 'State', ...(canEdit ? [''] : [])],
                rows.map(row => this.#rowView(row, canEdit))
              )}
            </div>`
      }
      ${pagingView(value, page => (this.page = page))}`
    )
  }

  #rowView(request: SongRequest, canEdit: boolean) {
    const { song, timestamp, state, ip } = request
    const title = isolateBidi(song.title || song.text)
    const isDisabled = this.#actions.inFlight !== null
    return html`<tr>
      <td class="row-time">${this.clock.formatTime(timestamp)}</td>
      <td class="main">
        <p class="row-title">${song.title || song.text}</p>
        <p class="row-artist">${song.artist}</p>
        ${
          canEdit && state === 'pending'
            ? html`<div class="button-row">
                ${buttonView('Play next', () => this.#queue(request, true), {
                  style: 'link',
                  label: `Play next: the request of “${title}”`,
                  isDisabled
                })}
                ${buttonView('Add to queue', () => this.#queue(request, false), {
                  style: 'link',
                  label: `Add to queue: the request of “${title}”`,
                  isDisabled
                })}
              </div>`
            : nothing
        }
      </td>
      <td class="wide quiet">${ip}</td>
      <td>${stateTexts[state] ?? state}</td>
      ${
        canEdit
          ? html`<td>
              ${buttonView('×', () => this.#cancel(request), {
                style: 'icon-button',
                label: `Cancel the request of “${title}”`,
                isDisabled
              })}
            </td>`
          : nothing
      }
    </tr>`
  }

  #queue({ id, song }: SongRequest, playsNext: boolean): Promise<void> {
    const { path, clock } = this
    const title = song.title || song.text
    return this.#actions.run('queue', async () => {
      try {
        return await requestQueueAddition(this, { path, clock, body: { request_id: id }, title, playsNext })
      } finally {
        // Also after a refusal: the AutoDJ has taken the request meanwhile.
        await this.#requests.refresh()
      }
    })
  }

  #cancel({ id, song }: SongRequest): Promise<void> {
    const { refresh } = this.#requests
    const cancel = () => callAction('DELETE', `${this.path}/reports/requests/${id}`, { refresh })
    return this.#actions.run('cancel', cancel, {
      title: `Cancel the request of “${isolateBidi(song.title || song.text)}”?`,
      text: 'The song leaves the queue.',
      verb: 'Cancel the request'
    })
  }

  #cancelAll(): Promise<void> {
    const { refresh } = this.#requests
    const cancel = () => callAction('POST', `${this.path}/reports/requests/clear`, { refresh })
    return this.#actions.run('cancel', cancel, {
      title: 'Cancel all requests?',
      text: 'This cancels all requests that were not played yet, except a song that is already sent to the playout.',
      verb: 'Cancel all requests'
    })
  }
}
