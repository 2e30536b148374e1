import { html, nothing } from 'lit'

import { pollResource } from '../api/poll-resource.ts'
import { openForm } from '../forms/form-controller.ts'
import { buttonView } from '../ui/controls.ts'
import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import { loadStateView } from '../ui/panel.ts'
import { formatCount } from '../ui/text.ts'
import { formatZoneName } from '../ui/time.ts'
import { changeBlockByKey } from './block-keys.ts'
import { openBlockPointer } from './block-pointer.ts'
import { describeClockChange, findWeekClockChanges } from './clock-changes.ts'
import { listScheduleOwners, schedulesOf, type ScheduleOwner } from './edited-schedules.ts'
import { scheduleItemFormView } from './item-form.ts'
import { findItemOccurrences } from './item-occurrences.ts'
import { openScheduleEditor, ownerKeyOf, schedulePlaceKey } from './schedule-editor.ts'
import { createScheduleItem } from './schedule-item.ts'
import { openScheduleSaver } from './schedule-saver.ts'
import { simulationView } from './simulation-view.ts'
import { watchSimulation } from './simulation.ts'
import { addDaysToDate, layOutWeek, mondayOf } from './week-layout.ts'
import { weekView } from './week-view.ts'

const hueCount = 8
const noon = 12 * 60
const simulatedDays = 7

/** The week of a station as a calendar, which operators edit, and a simulation of what would play. */
export class StationSchedule extends StationElement {
  static override properties = reactiveProperties<StationSchedule>(
    'canEditPlaylists',
    'canViewStreamers',
    'canEditStreamers',
    'weekOffset',
    'drawnKey'
  )
  declare canEditPlaylists: boolean
  declare canViewStreamers: boolean
  declare canEditStreamers: boolean
  /** Weeks from the current one. */
  weekOffset = 0
  /** The owner for which periods are drawn. */
  drawnKey = ''

  readonly #playlists = this.poll('playlists', 15_000)
  readonly #streamers = pollResource(this, {
    path: () => (this.canViewStreamers ? `${this.path}/streamers` : null),
    intervalMs: 60_000,
    initialValue: []
  })
  readonly #form = openForm(this, {
    start: () => schedulesOf(this.#owners),
    fields: () => this.#owners.map(({ key, name }) => ({ name: key, label: name }))
  })
  readonly #editor = openScheduleEditor(this, this.#form, {
    owners: () => this.#owners,
    canEdit: owner => this.#canEdit(owner)
  })
  readonly #saver = openScheduleSaver(this, this.#form, this.#editor, {
    path: () => this.path,
    refresh: () => Promise.all([this.#playlists.refresh(), this.#streamers.refresh()]),
    simulation: () => (this.weekOffset > 0 ? null : this.#simulation.current)
  })
  readonly #pointer = openBlockPointer(this, this.#editor, (date, minute) => this.#addAt(date, minute))
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
              .filter(({ kind, key }) => kind === 'playlist' && key in this.#form.edited)
              .map(owner => ({ id: owner.id, schedule_items: this.#editor.itemsOf(owner) }))
          }
  )

  get #monday(): string {
    return addDaysToDate(mondayOf(this.clock.formatDate(Date.now())), 7 * this.weekOffset)
  }

  get #owners(): ScheduleOwner[] {
    return listScheduleOwners(this.#playlists.value ?? [], this.#streamers.value ?? [])
  }

  #canEdit({ kind }: ScheduleOwner): boolean {
    return kind === 'playlist' ? this.canEditPlaylists : this.canEditStreamers
  }

  protected override render() {
    const owners = this.#owners
    const editor = this.#editor
    const shown = owners.flatMap(owner =>
      editor.shownItems(owner).map((item, index) => ({
        key: schedulePlaceKey(owner.key, index),
        name: owner.name,
        item
      }))
    )
    const clockChanges = findWeekClockChanges(this.clock.zone, this.#monday)
    return html`<div class="schedule-columns">
      <section class="panel" aria-labelledby="week">
        ${this.#headView()} ${loadStateView(this.#playlists)} ${this.#toolsView(owners)}
        ${clockChanges.map(
          change => html`<p class="quiet">${describeClockChange(change)} on ${change.date}.</p>`
        )}
        ${weekView({
          days: layOutWeek(findItemOccurrences(shown, this.#monday), this.#monday),
          clockChanges,
          clock: this.clock,
          isEditable: this.canEditPlaylists,
          selected: editor.selected,
          hueOf: key => owners.findIndex(owner => owner.key === ownerKeyOf(key)) % hueCount,
          onSelect: key => editor.select(key),
          onAdd: this.#drawnOwner ? date => this.#addAt(date, noon) : null,
          onLanePointer: (event, date) => this.#pointer.startDrawing(event, this.#drawnOwner, date),
          onBlockPointer: (event, occurrence) => this.#pointer.startMoving(event, occurrence),
          onBlockKey: (event, occurrence) => changeBlockByKey(event, editor, occurrence)
        })}
        ${
          this.#playlists.value !== null && shown.length === 0
            ? html`<p class="quiet">No playlist has a schedule: the rotation plays all week.</p>`
            : nothing
        }
        <p class="visually-hidden" id="block-help">
          Arrow keys move the period, with Shift they change its end, with Alt its start. Delete removes it.
        </p>
        <p class="visually-hidden" role="status">${editor.announcement}</p>
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
    const { isBusy, changes, problemOf } = this.#form
    const edited = Object.keys(changes).length
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
        ${buttonView(isBusy ? 'Saving…' : 'Save', () => this.#saver.save(), { isBusy, isDisabled: edited === 0 })}
        ${buttonView('Discard', () => this.#saver.discard(), { isDisabled: edited === 0 })}
        <span class="quiet">${edited > 0 ? `${formatCount(edited, 'schedule')} not saved` : ''}</span>
      </div>
      ${owners
        .filter(({ key }) => problemOf(key) !== '')
        .map(
          ({ key, name }) =>
            html`<p class="trouble" role="alert">Not saved: <bdi>${name}</bdi>: ${problemOf(key)}</p>`
        )}`
  }

  get #drawnOwner(): ScheduleOwner | undefined {
    const editable = this.#owners.filter(owner => this.#canEdit(owner))
    return editable.find(({ key }) => key === this.drawnKey) ?? editable[0]
  }

  #formView() {
    const place = this.#editor.find(this.#editor.selected)
    if (!place) return nothing
    const { owner, item } = place
    return scheduleItemFormView({
      name: owner.name,
      item,
      problem: this.#form.problemOf(owner.key),
      hasLoopOnce: owner.kind === 'playlist',
      isDisabled: !this.#canEdit(owner),
      onChange: next => this.#editor.store(place, next),
      onDelete: () => this.#editor.remove(place),
      onClose: () => this.#editor.select('')
    })
  }

  #simulationView(owners: readonly ScheduleOwner[]) {
    const nameOf = (id: number) => owners.find(({ key }) => key === `playlist/${id}`)?.name ?? ''
    return simulationView(this.#simulation, this.clock, nameOf)
  }

  /** Adds a period of an hour at noon of the first day shown, for those who cannot draw it. */
  #add(): void {
    this.#addAt(this.#monday, noon, { isForm: false })
  }

  /** Adds a period of an hour, and opens its form. */
  #addAt(date: string, minute: number, { isForm = true } = {}): void {
    const owner = this.#drawnOwner
    if (!owner) return
    const place = { owner, index: this.#editor.itemsOf(owner).length }
    this.#editor.store(place, createScheduleItem(date, minute, minute + 60))
    this.#editor.reveal(place, date, { isForm })
  }
}
