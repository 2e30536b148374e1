import { html, nothing } from 'lit'
import { repeat } from 'lit/directives/repeat.js'
import * as v from 'valibot'

import { lengthText } from '../../elements/time-text.ts'
import { callApi, done } from '../api/call-api.ts'
import { readFor } from '../api/poll-resource.ts'
import { actionFor, confirmed } from '../ui/actions.ts'
import { isolated, LightElement } from '../ui/light-element.ts'
import { errorView } from '../ui/panel.ts'
import { counted, number } from '../ui/text.ts'
import { zoneTime } from '../ui/time.ts'
import { moveNow } from './drop-place.ts'
import { reasonsOf } from './queue-reasons.ts'
import { rowDragFor, shiftOf } from './row-drag.ts'
import { movesFor } from './row-moves.ts'

/** What of a row of the queue is shown, `api/station/{id}/queue`. */
const queueItems = v.object({
  total: v.number(),
  rows: v.array(
    v.pipe(
      v.object({
        played_at: v.number(),
        duration: v.number(),
        playlist: v.string(),
        is_request: v.boolean(),
        sent_to_autodj: v.boolean(),
        song: v.object({ title: v.string(), artist: v.string(), text: v.string(), art: v.string() }),
        links: v.object({ self: v.string() }),
        log: v.array(v.unknown())
      }),
      // A row tells its id by its address only.
      v.transform(({ links, ...row }) => ({ ...row, id: links.self.slice(links.self.lastIndexOf('/') + 1) }))
    )
  )
})

type QueueItem = v.InferOutput<typeof queueItems>['rows'][number]

/** Where it comes from, in words. */
function sourceOf({ is_request: isRequest, playlist }: QueueItem): string {
  if (isRequest) return 'Request'
  return playlist === '' ? 'By hand' : playlist
}

const everyMs = 5_000
const rowsAtMost = 100

/**
 * What will play and why, and in which order: rows are dragged by their grips, or moved with the arrow keys.
 */
export class StationQueue extends LightElement {
  static override properties = {
    station: { attribute: false },
    zone: { attribute: false },
    isPrivate: { attribute: false },
    maySteer: { attribute: false },
    occasion: { attribute: false },
    said: { state: true }
  }
  declare station: string
  declare zone: string
  declare isPrivate: boolean
  declare maySteer: boolean
  /** Another one: the queue may be another one. */
  declare occasion: string
  /** What those hear who move rows without seeing it. */
  declare said: string
  /** The row whose grip has the focus, and goes on having it. */
  #held = ''

  readonly #queue = readFor(this, {
    schema: queueItems,
    path: () => `${this.#path}?per_page=${rowsAtMost}`,
    everyMs,
    occasion: () => this.occasion
  })
  readonly #playlists = readFor(this, {
    schema: v.array(v.object({ id: v.number(), name: v.string() })),
    path: () => `api/station/${encodeURIComponent(this.station)}/playlists`,
    everyMs: 300_000
  })
  readonly #acting = actionFor(this)
  readonly #moves = movesFor(
    this,
    () => this.station,
    () => this.#queue.again()
  )
  readonly #drag = rowDragFor(
    this,
    () => [...this.querySelectorAll<HTMLElement>('.queue-row[data-movable]')],
    (from, to) => this.#drop(from, to)
  )
  /** The rows as they were when one of them was taken up: nothing changes places under a finger. */
  #taken: readonly QueueItem[] = []

  constructor() {
    super()
    this.said = ''
  }

  get #path(): string {
    return `api/station/${encodeURIComponent(this.station)}/queue`
  }

  /** The rows that may change places, as they are shown. */
  get #shown(): readonly QueueItem[] {
    return this.#drag.dragged === null ? this.#movable : this.#taken
  }

  /** How many may change places, shown or not. */
  get #places(): number {
    const { value } = this.#queue
    return value === null ? 0 : value.total - value.rows.filter(row => row.sent_to_autodj).length
  }

  /** The rows that may change places. */
  get #movable(): readonly QueueItem[] {
    return this.#moves.ordered(this.#queue.value?.rows.filter(row => !row.sent_to_autodj) ?? [])
  }

  protected override render() {
    const { value } = this.#queue
    const sent = value?.rows.filter(row => row.sent_to_autodj) ?? []
    return html`<section class="panel" aria-labelledby="queue">
      <header class="panel-head">
        <h2 class="heading" id="queue">Queue</h2>
        ${
          this.maySteer && this.#places > 0
            ? html`<button
                type="button"
                class="link"
                ?disabled=${this.#acting.underWay !== null}
                @click=${() => void this.#clear()}
              >
                Clear
              </button>`
            : nothing
        }
      </header>
      ${errorView(this.#queue)}
      ${value?.total === 0 ? html`<p class="quiet">Nothing is planned.</p>` : nothing}
      <ol class="queue">
        ${sent.map(row => this.#rowView(row, null))}
        ${repeat(
          this.#shown,
          ({ id }) => id,
          (row, index) => this.#rowView(row, index)
        )}
      </ol>
      ${
        value !== null && value.total > rowsAtMost
          ? html`<p class="quiet">and ${value.total - rowsAtMost} more</p>`
          : nothing
      }
      <p class="only-heard" id="grip-help">
        Use the arrow keys to move it, Home and End to move it to the ends.
      </p>
      <p class="only-heard" role="status">${this.said}</p>
    </section>`
  }

  /** `index` counts rows that may be moved; null: this one may not. */
  #rowView(row: QueueItem, index: number | null) {
    const { song, played_at: playedAt, duration, sent_to_autodj: isSent } = row
    const { dragged } = this.#drag
    return html`<li
      class="queue-row"
      ?data-movable=${index !== null}
      ?data-dragged=${index !== null && dragged?.from === index}
      ?data-shifting=${dragged !== null}
      data-place=${dragged !== null && dragged.from === index ? dragged.to + 1 : nothing}
      .style=${index === null ? '' : shiftOf(index, dragged)}
    >
      <time class="row-time">${zoneTime(this.zone).time(playedAt)}</time>
      <song-cover .address=${song.art} .isPrivate=${this.isPrivate}></song-cover>
      <div class="row-text">
        <p class="row-title" title=${song.title}>${song.title || song.text}</p>
        <p class="row-artist">${song.artist}</p>
        <details class="reasons">
          <summary>${isSent ? 'On its way' : sourceOf(row)}<span class="only-heard">: why</span></summary>
          <ul>
            <li>${song.text || song.title}</li>
            ${this.#reasons(row).map(reason => html`<li>${reason}</li>`)}
          </ul>
        </details>
      </div>
      <span class="row-length">${duration === 0 ? '' : lengthText(duration * 1_000)}</span>
      ${this.maySteer && index !== null ? this.#handlesView(row, index) : nothing}
    </li>`
  }

  #handlesView(row: QueueItem, index: number) {
    const name = row.song.title || row.song.text
    return html`<div class="row-handles">
      <button
        type="button"
        class="icon-button"
        aria-label="Take “${isolated(name)}” out of the queue"
        ?disabled=${this.#acting.underWay !== null}
        @click=${() => void this.#remove(row)}
      >
        ×
      </button>
      <button
        type="button"
        class="icon-button grip"
        data-id=${row.id}
        aria-label="Move “${isolated(name)}”, place ${number(index + 1)} of ${number(this.#places)}"
        aria-describedby="grip-help"
        @pointerdown=${(event: PointerEvent) => this.#take(event, index)}
        @keydown=${(event: KeyboardEvent) => this.#moveByKey(event, row, index)}
      ></button>
    </div>`
  }

  #reasons({ log }: QueueItem): string[] {
    const { time } = zoneTime(this.zone)
    const names = new Map(this.#playlists.value?.map(({ id, name }) => [id, name]))
    return reasonsOf(log, { nameOf: id => names.get(id) ?? null, timeOf: time })
  }

  #take(event: PointerEvent, index: number): void {
    this.#taken = this.#movable
    this.#drag.start(event, index)
  }

  #drop(from: number, to: number): void {
    const rows = this.#movable
    const move = moveNow(this.#taken, from, to, rows)
    if (move !== null) this.#moves.move(rows, move.from, move.to, this.#places)
  }

  #moveByKey(event: KeyboardEvent, row: QueueItem, from: number): void {
    const rows = this.#movable
    const last = this.#places - 1
    const places: Readonly<Record<string, number>> = {
      ArrowUp: Math.max(0, from - 1),
      ArrowDown: Math.min(last, from + 1),
      Home: 0,
      End: last
    }
    const to = places[event.key]
    if (to === undefined) return
    event.preventDefault()
    if (to === from) return
    this.said = `${isolated(row.song.title || row.song.text)}: place ${number(to + 1)} of ${number(last + 1)}`
    this.#moves.move(rows, from, to, last + 1)
  }

  protected override willUpdate(): void {
    const { activeElement: focused } = document
    const isGrip = focused instanceof HTMLElement && this.contains(focused) && focused.matches('.grip')
    this.#held = isGrip ? (focused.dataset['id'] ?? '') : ''
  }

  protected override updated(): void {
    if (this.#held === '') return
    // An element that is moved loses the focus.
    // One that went beyond what is shown leaves the focus where it went out of sight.
    const grip =
      this.querySelector(`.grip[data-id="${this.#held}"]`) ?? [...this.querySelectorAll('.grip')].at(-1)
    if (grip instanceof HTMLElement && grip !== document.activeElement) grip.focus()
  }

  async #clear(): Promise<void> {
    const isMeant = await confirmed({
      title: 'Clear the queue?',
      text: `${counted(this.#places, 'song')} are taken out, also those that were put in by hand. The AutoDJ plans anew.`,
      verb: 'Clear it'
    })
    if (!isMeant) return
    await this.#acting.act('clear', async () => {
      const { message } = await callApi(done, `${this.#path}/clear`, { method: 'POST' })
      await this.#queue.again()
      return message
    })
  }

  async #remove(row: QueueItem): Promise<void> {
    const isMeant = await confirmed({
      title: `Take “${isolated(row.song.title || row.song.text)}” out of the queue?`,
      text: 'The AutoDJ fills its place with another song.',
      verb: 'Take it out'
    })
    if (!isMeant) return
    await this.#acting.act('remove', async () => {
      const { message } = await callApi(done, `${this.#path}/${row.id}`, { method: 'DELETE' })
      await this.#queue.again()
      return message
    })
  }
}
