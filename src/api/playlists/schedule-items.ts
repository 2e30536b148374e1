import * as v from 'valibot'

import type { ScheduleItem } from '../../model/autodj/schedule.ts'
import {
  validatedField,
  type Field,
  flagField,
  integerField,
  maxElementsCheck,
  formatCheckMessage
} from '../../model/fields/field.ts'
import { bodySchema, bodyValidator } from '../../model/fields/validators.ts'
import type { Tx } from '../../stores/db/sql.ts'

/** A time of day as HHMM. */
function timeOfDay(example: number): Field<number> {
  const field = integerField({ min: 0, max: 2359, about: 'HHMM', example })
  const hasMinutes = v.check<number, string>(
    time => time % 100 < 60,
    formatCheckMessage('out_of_range', 'must be a time from 0 to 2359 (HHMM).')
  )
  return { ...field, input: v.pipe(field.input, hasMinutes) }
}

/** Whether a text is empty or a valid date (`YYYY-MM-DD`). */
export function isDateOrEmpty(text: string): boolean {
  if (text === '') return true
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const day = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
}

function date(example: string): Field<string> {
  const input = v.pipe(
    v.string(formatCheckMessage('invalid_type', 'must be text.')),
    v.trim(),
    v.check(isDateOrEmpty, formatCheckMessage('invalid_format', 'must be a date (YYYY-MM-DD).'))
  )
  return validatedField(input, {
    fallback: '',
    schema: { type: 'string' },
    about: 'YYYY-MM-DD, or empty.',
    example
  })
}

const dayProblem = 'must be a day from 1 to 7.'

/** A list of days, or comma-separated text of them; 0 is stored as 7 (Sunday). */
const days = v.pipe(
  v.unknown(),
  v.transform(value =>
    typeof value === 'string' ? value.split(',', 101).filter(day => day.trim() !== '') : value
  ),
  maxElementsCheck(50),
  v.array(
    v.pipe(
      v.unknown(),
      v.transform(day => (typeof day === 'string' && /^\s*\d\s*$/.test(day) ? Number(day) : day)),
      v.number(formatCheckMessage('invalid_type', dayProblem)),
      v.integer(formatCheckMessage('invalid_type', dayProblem)),
      v.check(day => day >= 0 && day <= 7, formatCheckMessage('out_of_range', dayProblem)),
      v.transform(day => day || 7)
    ),
    formatCheckMessage('invalid_type', 'must be a list of days.')
  ),
  v.transform(list => [...new Set(list)].toSorted((a, b) => a - b))
)

const itemFields = {
  id: integerField({
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    fallback: 0,
    about: 'Kept if the record has it.'
  }),
  start_time: timeOfDay(900),
  end_time: timeOfDay(1730),
  start_date: date('2026-12-24'),
  end_date: date('2026-12-26'),
  days: validatedField<number[]>(days, {
    fallback: [],
    schema: { type: 'array', items: { type: 'integer', minimum: 1, maximum: 7 } },
    about: 'ISO days; empty: all.'
  }),
  loop_once: flagField({ fallback: false, about: 'Plays the list once.' })
}

/** An element of `schedule_items` in a body. */
export const scheduleItemValidator: v.GenericSchema<unknown, ScheduleItem> = v.pipe(
  bodyValidator(itemFields),
  v.forward(
    v.partialCheck(
      [['start_date'], ['end_date']],
      ({ start_date, end_date }) => start_date === '' || end_date === '' || start_date <= end_date,
      formatCheckMessage('out_of_range', 'must not be before start_date.')
    ),
    ['end_date']
  )
)

export const scheduleItemSchema = bodySchema(itemFields)

/** Assigns ids to new items. An item keeps its id if the record has it already; a second one does not. */
export async function assignScheduleItemIds(
  tx: Tx,
  items: readonly ScheduleItem[],
  known: readonly ScheduleItem[]
): Promise<ScheduleItem[]> {
  const free = new Set(known.map(({ id }) => id))
  const isKnown = items.map(({ id }) => free.delete(id))
  const missing = isKnown.filter(kept => !kept).length
  if (missing === 0) return [...items]
  const rows = await tx<{ id: number }[]>`
    select nextval('schedule_item_ids') as id from generate_series(1, ${missing})`
  const ids = rows.map(({ id }) => id).values()
  return items.map((each, index) => (isKnown[index] ? each : { ...each, id: ids.next().value ?? 0 }))
}
