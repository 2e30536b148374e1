import { html, nothing, type PropertyValues } from 'lit'

import { pollResource } from '../api/poll-resource.ts'
import { confirmAction, notify, openActionRunner } from '../ui/actions.ts'
import { buttonView } from '../ui/controls.ts'
import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import { loadStateView } from '../ui/panel.ts'
import { formatCount, isolateBidi } from '../ui/text.ts'
import { formatMinuteOfDay, formatZoneName } from '../ui/time.ts'
import { guardChanges } from '../ui/unsaved-changes.ts'
import { openBlockDrag } from './block-drag.ts'
import { type ClockChange, describeClockChange, findClockChanges } from './clock-changes.ts'
import {
  editSchedule,
  itemsOf,
  listOwners,
  playlistSchedulesSchema,
  saveSchedules,
  type ScheduleEdits,
  type ScheduleOwner,
  streamerSchedulesSchema
} from './edited-schedules.ts'
import { type GridOffset, minuteAt } from './grid-geometry.ts'
import { itemFormView } from './item-form.ts'
import { findOccurrences, type ItemOccurrence } from './item-occurrences.ts'
import { createItem, moveItem, resizeItem, type ScheduleItem, stepMinutes } from './schedule-item.ts'
import { formatSchedule } from './schedule-text.ts'
import { simulationView } from './simulation-view.ts'
import { watchSimulation } from './simulation.ts'
import { addDays, type CalendarBlock, type DayLayout, layOutWeek, minutesPerDay, mondayOf } from './week.ts'

const hueCount = 8
const labeledHours = [0, 6, 12, 18]
/** The part of a block, at its top and bottom, that changes its length. */
const edgePixels = 7
const simulatedDays = 7

/** One schedule item of an owner. */
interface ItemPlace {
  readonly owner: ScheduleOwner
  readonly index: number
}

/** The item that a pointer moves, resizes or draws, as it would be stored. */
interface Preview {
  readonly ownerKey: string
  readonly index: number
  readonly item: ScheduleItem
}

/** The week of a station as a calendar, which operators edit, and a simulation of what would play. */
export class StationSchedule extends StationElement {
  static override properties = reactiveProperties(
    'canEditPlaylists',
    'canViewStreamers',
    'canEditStreamers',
    'weekOffset',
    'edits',
    'selected',
    'drawnKey',
    'preview',
    'announcement',
    'problems'
  )
  declare canEditPlaylists: boolean
  declare canViewStreamers: boolean
  declare canEditStreamers: boolean
  /** Weeks from the current one. */
  weekOffset = 0
  edits: ScheduleEdits = new Map()
  /** The item in the form, by owner and index: `playlist/3 0`; '' for none. */
  selected = ''
  /** The owner for which periods are drawn. */
  drawnKey = ''
  preview: Preview | null = null
  /** The result of a change by keyboard, for screen readers. */
  announcement = ''
  /** The problems of schedules that were not saved, by owner. */
  problems: ReadonlyMap<string, string> = new Map()
  /** The block that gets the focus after the next update. */
  #focus: { readonly place: string; readonly date: string } | null = null

  readonly #playlists = this.poll('playlists', playlistSchedulesSchema, 15_000)
  readonly #streamers = pollResource(this, {
    schema: streamerSchedulesSchema,
    path: () => (this.canViewStreamers ? `${this.path}/streamers` : null),
    intervalMs: 60_000,
    initialValue: []
  })
  readonly #simulation = watchSimulation(
    this,
    () => this.path,
    () =>
      this.#playlists.value === null
        ? null
        : {
            days: simulatedDays,
            from: this.weekOffset > 0 ? this.#monday : '',
            playlists: this.#owners
              .filter(({ kind, key }) => kind === 'playlist' && this.edits.has(key))
              .map(owner => ({ id: owner.id, schedule_items: itemsOf(owner, this.edits) }))
          }
  )
  readonly #actions = openActionRunner(this)
  readonly #drag = openBlockDrag(this, () => [...this.querySelectorAll<HTMLElement>('.week-lane')])

  constructor() {
    super()
    guardChanges(this, () => this.edits.size > 0)
  }

  get #monday(): string {
    return addDays(mondayOf(this.clock.formatDate(Date.now())), 7 * this.weekOffset)
  }

  get #owners(): ScheduleOwner[] {
    return listOwners(this.#playlists.value ?? [], this.#streamers.value ?? [])
  }

  #canEdit({ kind }: ScheduleOwner): boolean {
    return kind === 'playlist' ? this.canEditPlaylists : this.canEditStreamers
  }

  /** The items of an owner, with those that a pointer is changing. */
  #shownItems(owner: ScheduleOwner): readonly ScheduleItem[] {
    const items = itemsOf(owner, this.edits)
    const { preview } = this
    return preview?.ownerKey === owner.key ? withItem(items, preview.index, preview.item) : items
  }

  protected override render() {
    const owners = this.#owners
    const shown = owners.flatMap(owner =>
      this.#shownItems(owner).map((item, index) => ({
        key: placeKey(owner.key, index),
        name: owner.name,
        item
      }))
    )
    const changes = findClockChanges(this.clock.zone, this.#monday)
    const days = layOutWeek(findOccurrences(shown, this.#monday), this.#monday)
    return html`<div class="schedule-columns">
      <section class="panel" aria-labelledby="week">
        ${this.#headView()} ${loadStateView(this.#playlists)} ${this.#toolsView(owners)}
        ${changes.map(change => html`<p class="quiet">${describeClockChange(change)} on ${change.date}.</p>`)}
        <div class="week" data-editable=${this.canEditPlaylists}>
          <div class="week-hours" aria-hidden="true">
            ${labeledHours.map(
              hour => html`<span .style=${topStyle(hour * 60)}>${formatMinuteOfDay(hour * 60)}</span>`
            )}
          </div>
          ${days.map(day => this.#dayView(day, owners, changes))}
        </div>
        ${
          this.#playlists.value !== null && shown.length === 0
            ? html`<p class="quiet">No playlist has a schedule: the rotation plays all week.</p>`
            : nothing
        }
        <p class="visually-hidden" id="block-help">
          Arrow keys move the period, with Shift they change its end, with Alt its start. Delete removes it.
        </p>
        <p class="visually-hidden" role="status">${this.announcement}</p>
      </section>
      <div class="stack">${this.#formView()} ${this.#simulationView(owners)}</div>
    </div>`
  }

  #headView() {
    return html`<header class="panel-head">
      <div>
        <h2 class="heading" id="week">Week</h2>
        <p class="quiet">Time zone: ${formatZoneName(this.clock.zone)}</p>
      </div>
      <div class="button-row">
        ${buttonView('‹', () => this.weekOffset--, { label: 'Previous week' })}
        ${buttonView('This week', () => (this.weekOffset = 0), { isDisabled: this.weekOffset === 0 })}
        ${buttonView('›', () => this.weekOffset++, { label: 'Next week' })}
      </div>
    </header>`
  }

  #toolsView(owners: readonly ScheduleOwner[]) {
    const editable = owners.filter(owner => this.#canEdit(owner))
    if (editable.length === 0) return nothing
    const hasEdits = this.edits.size > 0
    const isBusy = this.#actions.inFlight === 'save'
    return html`<div class="schedule-tools">
        <label for="drawn-owner">New periods are for</label>
        <select
          class="field"
          id="drawn-owner"
          @change=${({ target }: Event) => {
            if (target instanceof HTMLSelectElement) this.drawnKey = target.value
          }}
        >
          ${editable.map(
            ({ key, name, kind }) =>
              html`<option value=${key} .selected=${key === this.#drawnOwner?.key}>
                ${kind === 'streamer' ? `${name} (streamer)` : name}
              </option>`
          )}
        </select>
        ${buttonView('Add', () => this.#add())}
        ${buttonView(isBusy ? 'Saving…' : 'Save', () => this.#save(), { isBusy, isDisabled: !hasEdits })}
        ${buttonView('Discard', () => void this.#discard(), { isDisabled: !hasEdits })}
        <span class="quiet">${hasEdits ? `${formatCount(this.edits.size, 'schedule')} not saved` : ''}</span>
      </div>
      ${[...this.problems].map(
        ([key, problem]) =>
          html`<p class="trouble" role="alert">
            Not saved: <bdi>${owners.find(owner => owner.key === key)?.name}</bdi>: ${problem}
          </p>`
      )}`
  }

  get #drawnOwner(): ScheduleOwner | undefined {
    const editable = this.#owners.filter(owner => this.#canEdit(owner))
    return editable.find(({ key }) => key === this.drawnKey) ?? editable[0]
  }

  /** A day is a column of hours; in narrow windows and for screen readers, a list. */
  #dayView(
    { date, showings }: DayLayout<ItemOccurrence>,
    owners: readonly ScheduleOwner[],
    changes: readonly ClockChange[]
  ) {
    const nowMs = Date.now()
    const isToday = date === this.clock.formatDate(nowMs)
    const nowStyle = topStyle(this.clock.minuteOfDay(nowMs))
    return html`<section class="week-day" ?data-today=${isToday} aria-label=${formatDay(date, 'long')}>
      <h3 class="week-date" aria-hidden="true">${formatDay(date, 'short')}</h3>
      <ol class="week-lane" @pointerdown=${(event: PointerEvent) => this.#startDrawing(event, date)}>
        ${changes
          .filter(change => change.date === date)
          .map(
            ({ kind, fromMinute, toMinute }) =>
              html`<li
                class="clock-change"
                data-kind=${kind}
                aria-hidden="true"
                .style="${topStyle(fromMinute)}; ${heightStyle(fromMinute, toMinute)}"
              ></li>`
          )}
        ${showings.map(showing => this.#blockView(showing, owners))}
        ${isToday ? html`<li class="week-now" aria-hidden="true" .style=${nowStyle}></li>` : nothing}
      </ol>
      ${showings.length === 0 ? html`<p class="week-empty quiet">Nothing scheduled</p>` : nothing}
    </section>`
  }

  #blockView(block: CalendarBlock<ItemOccurrence>, owners: readonly ScheduleOwner[]) {
    const { occurrence, name, text, fromMinute, toMinute, lane, width, lanes } = block
    const [ownerKey = ''] = occurrence.key.split(' ')
    const hue = owners.findIndex(({ key }) => key === ownerKey) % hueCount
    const style = [
      topStyle(fromMinute),
      heightStyle(fromMinute, toMinute),
      `--left: ${formatPercent(lane / lanes)}`,
      `--width: ${formatPercent(width / lanes)}`
    ].join('; ')
    return html`<li class="showing" data-hue=${hue} .style=${style}>
      <button
        type="button"
        class="showing-button"
        title="${name}, ${text}"
        data-place=${occurrence.key}
        data-date=${occurrence.date}
        aria-pressed=${occurrence.key === this.selected}
        aria-describedby="block-help"
        @click=${() => (this.selected = occurrence.key)}
        @pointerdown=${(event: PointerEvent) => this.#startMoving(event, occurrence)}
        @keydown=${(event: KeyboardEvent) => this.#changeByKey(event, occurrence)}
      >
        <span class="showing-time">${text}</span> <bdi class="showing-name">${name}</bdi>
      </button>
    </li>`
  }

  #formView() {
    const place = this.#findPlace(this.selected)
    const item = place && itemsOf(place.owner, this.edits)[place.index]
    if (!place || !item) return nothing
    return itemFormView({
      name: place.owner.name,
      item,
      problem: this.problems.get(place.owner.key) ?? '',
      hasLoopOnce: place.owner.kind === 'playlist',
      isDisabled: !this.#canEdit(place.owner),
      onChange: next => this.#store(place, next),
      onDelete: () => this.#remove(place),
      onClose: () => (this.selected = '')
    })
  }

  #simulationView(owners: readonly ScheduleOwner[]) {
    const nameOf = (id: number) => owners.find(({ key }) => key === `playlist/${id}`)?.name ?? ''
    return simulationView(this.#simulation, this.clock, nameOf)
  }

  protected override updated(_changed: PropertyValues<this>): void {
    if (this.#focus === null) return
    const { place, date } = this.#focus
    this.#focus = null
    const blocks = [...this.querySelectorAll<HTMLElement>('.showing-button')].filter(
      ({ dataset }) => dataset['place'] === place
    )
    const block = blocks.find(({ dataset }) => dataset['date'] === date) ?? blocks[0]
    block?.focus()
  }

  #findPlace(key: string): ItemPlace | null {
    const [ownerKey, index = ''] = key.split(' ')
    const owner = this.#owners.find(each => each.key === ownerKey)
    return owner ? { owner, index: Number(index) } : null
  }

  #editable(key: string): (ItemPlace & { readonly item: ScheduleItem }) | null {
    const place = this.#findPlace(key)
    const item = place && itemsOf(place.owner, this.edits)[place.index]
    return place && item && this.#canEdit(place.owner) ? { ...place, item } : null
  }

  #store({ owner, index }: ItemPlace, item: ScheduleItem): void {
    this.edits = editSchedule(this.edits, owner, withItem(itemsOf(owner, this.edits), index, item))
  }

  #remove({ owner, index }: ItemPlace): void {
    this.edits = editSchedule(this.edits, owner, itemsOf(owner, this.edits).toSpliced(index, 1))
    this.selected = ''
    this.announcement = `${isolateBidi(owner.name)}: period removed`
  }

  /** Adds a period of an hour at noon of the first day shown, for those who cannot draw it. */
  #add(): void {
    const owner = this.#drawnOwner
    if (!owner) return
    const index = itemsOf(owner, this.edits).length
    this.#store({ owner, index }, createItem(this.#monday, 12 * 60, 13 * 60))
    this.#select(owner, index, this.#monday)
  }

  #select(owner: ScheduleOwner, index: number, date: string): void {
    const place = placeKey(owner.key, index)
    this.selected = place
    this.#focus = { place, date }
    const item = itemsOf(owner, this.edits)[index]
    if (item) this.announcement = `${isolateBidi(owner.name)}: ${formatSchedule(item)}`
  }

  #startDrawing(event: PointerEvent, date: string): void {
    const { target, currentTarget: lane } = event
    const owner = this.#drawnOwner
    const isGrid = lane instanceof HTMLElement && getComputedStyle(lane).position === 'relative'
    // A finger on an empty place scrolls.
    if (target !== lane || !isGrid || !owner || event.button !== 0 || event.pointerType === 'touch') return
    event.preventDefault()
    const from = minuteAt(event.offsetY, lane.offsetHeight)
    const index = itemsOf(owner, this.edits).length
    this.#follow(event, owner, index, date, ({ minutes }) =>
      minutes >= 0
        ? createItem(date, from, from + Math.max(stepMinutes, minutes))
        : createItem(date, from + minutes, from)
    )
  }

  #startMoving(event: PointerEvent, { key, date }: ItemOccurrence): void {
    const place = this.#editable(key)
    const { currentTarget: block } = event
    const isGrid =
      block instanceof HTMLElement &&
      block.parentElement !== null &&
      getComputedStyle(block.parentElement).position === 'absolute'
    if (!place || !isGrid || event.button !== 0) return
    event.preventDefault()
    block.focus()
    this.selected = key
    const { item, owner, index } = place
    const edge = findEdge(block, event.clientY)
    this.#follow(event, owner, index, date, ({ days, minutes }) =>
      edge === null ? moveItem(item, days, minutes) : resizeItem(item, edge, minutes)
    )
  }

  /** Shows an item while a pointer changes it, and stores it when the pointer is released. */
  #follow(
    event: PointerEvent,
    owner: ScheduleOwner,
    index: number,
    date: string,
    apply: (offset: GridOffset) => ScheduleItem
  ): void {
    const grid = this.querySelector<HTMLElement>('.week')
    if (grid === null) return
    let days = 0
    this.#drag.start(event, grid, {
      onMove: offset => {
        if (this.preview === null && offset.days === 0 && offset.minutes === 0) return
        days = offset.days
        this.preview = { ownerKey: owner.key, index, item: apply(offset) }
      },
      onEnd: isDropped => {
        const { preview } = this
        this.preview = null
        if (!isDropped || preview === null) return
        this.#store({ owner, index }, preview.item)
        this.#select(owner, index, addDays(date, days))
      }
    })
  }

  #changeByKey(event: KeyboardEvent, { key, date }: ItemOccurrence): void {
    const place = this.#editable(key)
    if (!place) return
    if (event.key === 'Delete' || event.key === 'Backspace') {
      event.preventDefault()
      return this.#remove(place)
    }
    const { days, minutes } = keyOffsets[event.key] ?? { days: 0, minutes: 0 }
    if (days === 0 && minutes === 0) return
    event.preventDefault()
    const edge = event.shiftKey ? 'end' : event.altKey ? 'start' : null
    if (edge !== null && minutes === 0) return
    const next = edge === null ? moveItem(place.item, days, minutes) : resizeItem(place.item, edge, minutes)
    this.#store(place, next)
    this.#select(place.owner, place.index, addDays(date, days))
  }

  #save(): void {
    void this.#actions.run('save', async () => {
      const sent = this.edits
      const { saved, problems } = await saveSchedules(this.path, sent)
      await Promise.all([this.#playlists.refresh(), this.#streamers.refresh()])
      // A schedule may have been edited again meanwhile.
      this.edits = new Map(
        [...this.edits].filter(([key, items]) => !saved.includes(key) || sent.get(key) !== items)
      )
      this.problems = problems
      if (problems.size === 0) return `${formatCount(saved.length, 'schedule')} saved.`
      notify(this, {
        text: `${saved.length} of ${saved.length + problems.size} schedules were saved.`,
        isError: true
      })
      return ''
    })
  }

  async #discard(): Promise<void> {
    const text = 'The changes of the schedule that are not saved are lost.'
    if (!(await confirmAction({ title: 'Discard the changes?', text, verb: 'Discard' }))) return
    this.edits = new Map()
    this.problems = new Map()
    this.selected = ''
  }
}

/** The end of a block that a pointer touches; null: neither. A short block can only be moved. */
function findEdge(block: HTMLElement, clientY: number): 'start' | 'end' | null {
  const { top, bottom, height } = block.getBoundingClientRect()
  if (height < 3 * edgePixels) return null
  if (clientY - top < edgePixels) return 'start'
  return bottom - clientY < edgePixels ? 'end' : null
}

const keyOffsets: Readonly<Record<string, GridOffset>> = {
  ArrowUp: { days: 0, minutes: -stepMinutes },
  ArrowDown: { days: 0, minutes: stepMinutes },
  ArrowLeft: { days: -1, minutes: 0 },
  ArrowRight: { days: 1, minutes: 0 }
}

const placeKey = (ownerKey: string, index: number) => `${ownerKey} ${index}`

const withItem = (items: readonly ScheduleItem[], index: number, item: ScheduleItem): ScheduleItem[] =>
  index < items.length ? items.with(index, item) : [...items, item]

const topStyle = (minute: number) => `--top: ${formatPercent(minute / minutesPerDay)}`
const heightStyle = (fromMinute: number, toMinute: number) =>
  `--height: ${formatPercent((toMinute - fromMinute) / minutesPerDay)}`
const formatPercent = (part: number) => `${(part * 100).toFixed(3)}%`

function formatDay(date: string, width: 'long' | 'short'): string {
  const midnight = new Date(`${date}T00:00:00Z`)
  return midnight.toLocaleDateString(undefined, {
    timeZone: 'UTC',
    weekday: width,
    day: 'numeric',
    month: width
  })
}
