import { html } from 'lit'
import { live } from 'lit/directives/live.js'

import { isChecked } from '../forms/field-view.ts'
import { buttonView } from '../ui/controls.ts'
import { type ApiScheduleItem, minutesToHhmm, hhmmToMinutes } from './schedule-item.ts'

const dayNames = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

interface ItemFormOptions {
  readonly name: string
  readonly item: ApiScheduleItem
  /** The problem that the server reported for the schedule; '' for none. */
  readonly problem: string
  readonly hasLoopOnce: boolean
  readonly isDisabled: boolean
  readonly onChange: (item: ApiScheduleItem) => void
  readonly onDelete: () => void
  readonly onClose: () => void
}

const readValue = ({ target }: Event): string => (target instanceof HTMLInputElement ? target.value : '')

/** `09:30` for 930. */
const toInputTime = (hhmm: number): string => {
  const text = String(hhmm).padStart(4, '0')
  return `${text.slice(0, 2)}:${text.slice(2)}`
}

/** A form for one scheduled period. */
export function scheduleItemFormView(options: ItemFormOptions) {
  const { name, item, problem, hasLoopOnce, isDisabled, onChange, onDelete, onClose } = options
  const timeView = (id: string, label: string, field: 'start_time' | 'end_time') =>
    html`<label for=${id}>${label}</label>
      <input
        class="field"
        type="time"
        id=${id}
        ?disabled=${isDisabled}
        .value=${live(toInputTime(item[field]))}
        @change=${(event: Event) => {
          const [hours = NaN, minutes = NaN] = readValue(event).split(':').map(Number)
          if (Number.isFinite(hours + minutes))
            onChange({ ...item, [field]: minutesToHhmm(hours * 60 + minutes) })
        }}
      />`
  const dateView = (id: string, label: string, field: 'start_date' | 'end_date') =>
    html`<label for=${id}>${label}</label>
      <input
        class="field"
        type="date"
        id=${id}
        ?disabled=${isDisabled}
        .value=${live(item[field])}
        @change=${(event: Event) => onChange({ ...item, [field]: readValue(event) })}
      />`
  const toggleDay = (day: number, isOn: boolean) => {
    const before = item.days.length === 0 ? [1, 2, 3, 4, 5, 6, 7] : item.days
    const days = isOn ? [...before, day].toSorted((a, b) => a - b) : before.filter(each => each !== day)
    // No day would mean every day.
    if (days.length > 0) onChange({ ...item, days: days.length === 7 ? [] : [...new Set(days)] })
  }
  const length = hhmmToMinutes(item.end_time) - hhmmToMinutes(item.start_time)
  return html`<section class="panel item-form" aria-labelledby="item-form">
    <header class="panel-head">
      <h2 class="heading" id="item-form"><bdi>${name}</bdi></h2>
      <div class="button-row">
        ${buttonView('Delete', onDelete, { style: 'link', isDisabled })}
        ${buttonView('×', onClose, { style: 'icon-button', label: 'Close' })}
      </div>
    </header>
    <p class="trouble" role="alert">${problem}</p>
    <div class="item-fields">
      ${timeView('item-start', 'Start', 'start_time')} ${timeView('item-end', 'End', 'end_time')}
      <p class="quiet">
        ${length < 0 ? 'Ends the next day.' : length === 0 ? 'Equal times stand for 15 minutes.' : ''}
      </p>
      <fieldset class="item-days">
        <legend>Days on which it starts</legend>
        ${dayNames.map(
          (dayName, index) =>
            html`<label
              ><input
                type="checkbox"
                ?disabled=${isDisabled}
                .checked=${live(item.days.length === 0 || item.days.includes(index + 1))}
                @change=${(event: Event) => toggleDay(index + 1, isChecked(event))}
              />${dayName}</label
            >`
        )}
      </fieldset>
      ${dateView('item-from', 'First date', 'start_date')} ${dateView('item-until', 'Last date', 'end_date')}
      <p class="quiet">Empty dates are no limit. Overnight, the last date is the one on which it ends.</p>
      ${
        hasLoopOnce
          ? html`<label
              ><input
                type="checkbox"
                ?disabled=${isDisabled}
                .checked=${live(item.loop_once)}
                @change=${(event: Event) => onChange({ ...item, loop_once: isChecked(event) })}
              />
              Play each song once per period</label
            >`
          : ''
      }
    </div>
  </section>`
}
