import { html, nothing } from 'lit'
import { repeat } from 'lit/directives/repeat.js'

import { formatDuration } from '../../elements/time-text.ts'
import { callAction } from '../api/call-api.ts'
import { pollResource } from '../api/poll-resource.ts'
import type { QueueItem } from '../api/responses.ts'
import type { StationPath } from '../api/typed-response.ts'
import { openActionRunner } from '../ui/actions.ts'
import { buttonView } from '../ui/controls.ts'
import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import { panelView } from '../ui/panel.ts'
import { formatCount, formatNumber, isolateBidi } from '../ui/text.ts'
import { describeReasons } from './queue-reasons.ts'
import { draggedRowStyle, openRowDrag } from './row-drag.ts'
import { openRowMoves } from './row-moves.ts'
import { rebaseMove } from './row-order.ts'

/** A row of the queue. The API has its id only in its link. */
interface QueueRow extends QueueItem {
  readonly id: string
}

const toRow = (item: QueueItem): QueueRow => ({ ...item, id: item.links.self.replace(/.*\//, '') })

const titleOf = ({ song }: QueueItem) => song.title || song.text
const sourceOf = ({ is_request: isRequest, playlist }: QueueItem) =>
  isRequest ? 'Request' : playlist || 'Manual'

const maxRows = 100

/** The queue with the reasons of each row. Rows are moved by dragging their grips or with the arrow keys. */
export class StationQueue extends StationElement {
  static override properties = reactiveProperties<StationQueue>('isPrivate', 'canManage', 'announcement')
  declare isPrivate: boolean
  declare canManage: boolean
  /** The result of a move by keyboard, for screen readers. */
  announcement = ''
  /** The id of the row whose grip has the focus; '' if none has. */
  #focusedId = ''
  /** The rows at the start of a drag: their order does not change while one is dragged. */
  #rowsAtDragStart: readonly QueueRow[] = []

  readonly #queue = this.poll(`queue?per_page=${maxRows}`, 5_000)
  readonly #playlists = pollResource(this, {
    path: () => `${this.path}/playlists`,
    intervalMs: 300_000
  })
  readonly #actions = openActionRunner(this)
  readonly #moves = openRowMoves(
    this,
    () => this.#queuePath,
    () => this.#queue.refresh()
  )
  readonly #drag = openRowDrag(
    this,
    () => [...this.querySelectorAll<HTMLElement>('.queue-row[data-movable]')],
    (from, to) => this.#drop(from, to)
  )

  get #queuePath(): `${StationPath}/queue` {
    return `${this.path}/queue`
  }

  get #rows(): readonly QueueRow[] {
    return this.#queue.value?.rows.map(toRow) ?? []
  }

  get #sentRows(): readonly QueueRow[] {
    return this.#rows.filter(row => row.sent_to_autodj)
  }

  get #movableRows(): readonly QueueRow[] {
    return this.#moves.applyPending(this.#rows.filter(row => !row.sent_to_autodj))
  }

  /** The number of movable rows, including those beyond the displayed ones. */
  get #movableCount(): number {
    return (this.#queue.value?.total ?? 0) - this.#sentRows.length
  }

  protected override render() {
    const total = this.#queue.value?.total
    const clearButton = buttonView('Clear', () => this.#clear(), {
      style: 'link',
      isDisabled: this.#actions.inFlight !== null
    })
    return panelView(
      {
        id: 'queue',
        title: 'Queue',
        resource: this.#queue,
        emptyText: total === 0 ? 'The queue is empty.' : '',
        actions: this.canManage && this.#movableCount > 0 ? clearButton : nothing
      },
      html`<ol class="queue">
          ${this.#sentRows.map(row => this.#rowView(row, null))}
          ${repeat(
            this.#drag.dragged === null ? this.#movableRows : this.#rowsAtDragStart,
            ({ id }) => id,
            (row, index) => this.#rowView(row, index)
          )}
        </ol>
        ${total !== undefined && total > maxRows ? html`<p class="quiet">and ${total - maxRows} more</p>` : nothing}
        <p class="visually-hidden" id="grip-help">
          Use the arrow keys to move the song, Home and End to move it to the start or the end.
        </p>
        <p class="visually-hidden" role="status">${this.announcement}</p>`
    )
  }

  /** `index` is that among the movable rows; null if the row cannot be moved. */
  #rowView(row: QueueRow, index: number | null) {
    const { song, played_at: playedAt, duration, sent_to_autodj: isSent } = row
    const { dragged } = this.#drag
    const isDragged = index !== null && dragged?.from === index
    return html`<li
      class="queue-row"
      ?data-movable=${index !== null}
      ?data-dragged=${isDragged}
      ?data-shifting=${dragged !== null}
      data-place=${isDragged ? dragged.to + 1 : nothing}
      .style=${index === null ? '' : draggedRowStyle(index, dragged)}
    >
      <time class="row-time">${this.clock.formatTime(playedAt)}</time>
      <song-cover .address=${song.art} .isPrivate=${this.isPrivate}></song-cover>
      <div class="row-text">
        <p class="row-title" title=${song.title}>${titleOf(row)}</p>
        <p class="row-artist">${song.artist}</p>
        <details class="reasons">
          <summary>${isSent ? 'Sent' : sourceOf(row)}<span class="visually-hidden">: reasons</span></summary>
          <ul>
            <li>${song.text || song.title}</li>
            ${this.#describeReasons(row).map(reason => html`<li>${reason}</li>`)}
          </ul>
        </details>
      </div>
      <span class="row-length">${duration === 0 ? '' : formatDuration(duration * 1_000)}</span>
      ${this.canManage && index !== null ? this.#handlesView(row, index) : nothing}
    </li>`
  }

  #handlesView(row: QueueRow, index: number) {
    const title = isolateBidi(titleOf(row))
    return html`<div class="row-handles">
      ${buttonView('×', () => this.#remove(row), {
        style: 'icon-button',
        label: `Remove “${title}” from the queue`,
        isDisabled: this.#actions.inFlight !== null
      })}
      <button
        type="button"
        class="icon-button grip"
        data-id=${row.id}
        aria-label="Move “${title}”, position ${formatNumber(index + 1)} of ${formatNumber(this.#movableCount)}"
        aria-describedby="grip-help"
        @pointerdown=${(event: PointerEvent) => this.#startDrag(event, index)}
        @keydown=${(event: KeyboardEvent) => this.#moveByKey(event, row, index)}
      ></button>
    </div>`
  }

  #describeReasons({ log }: QueueItem): string[] {
    const names = new Map(this.#playlists.value?.map(({ id, name }) => [id, name]))
    return describeReasons(log, { findName: id => names.get(id) ?? null, formatTime: this.clock.formatTime })
  }

  #startDrag(event: PointerEvent, index: number): void {
    this.#rowsAtDragStart = this.#movableRows
    this.#drag.start(event, index)
  }

  #drop(from: number, to: number): void {
    const rows = this.#movableRows
    const move = rebaseMove(this.#rowsAtDragStart, from, to, rows)
    if (move !== null) this.#moves.move(rows, move.from, move.to, this.#movableCount)
  }

  #moveByKey(event: KeyboardEvent, row: QueueRow, from: number): void {
    const count = this.#movableCount
    const targets: Readonly<Record<string, number>> = {
      ArrowUp: Math.max(0, from - 1),
      ArrowDown: Math.min(count - 1, from + 1),
      Home: 0,
      End: count - 1
    }
    const to = targets[event.key]
    if (to === undefined) return
    event.preventDefault()
    if (to === from) return
    this.announcement = `${isolateBidi(titleOf(row))}: position ${formatNumber(to + 1)} of ${formatNumber(count)}`
    this.#moves.move(this.#movableRows, from, to, count)
  }

  protected override willUpdate(): void {
    const { activeElement: focused } = document
    const isGrip = focused instanceof HTMLElement && this.contains(focused) && focused.matches('.grip')
    this.#focusedId = isGrip ? (focused.dataset['id'] ?? '') : ''
  }

  /** Restores the focus, which a moved element loses. If its row is not displayed, the last grip gets it. */
  protected override updated(): void {
    if (this.#focusedId === '') return
    const grip =
      this.querySelector(`.grip[data-id="${this.#focusedId}"]`) ?? [...this.querySelectorAll('.grip')].at(-1)
    if (grip instanceof HTMLElement && grip !== document.activeElement) grip.focus()
  }

  #clear(): Promise<void> {
    const songs = formatCount(this.#movableCount, 'song')
    const { refresh } = this.#queue
    return this.#actions.run('change', () => callAction('POST', `${this.#queuePath}/clear`, { refresh }), {
      title: 'Clear the queue?',
      text: `This removes ${songs}, including manually added ones. The AutoDJ then plans the queue again.`,
      verb: 'Clear'
    })
  }

  #remove(row: QueueRow): Promise<void> {
    const { refresh } = this.#queue
    return this.#actions.run(
      'change',
      () => callAction('DELETE', `${this.#queuePath}/${row.id}`, { refresh }),
      {
        title: `Remove “${isolateBidi(titleOf(row))}” from the queue?`,
        text: 'The AutoDJ adds another song instead.',
        verb: 'Remove'
      }
    )
  }
}
