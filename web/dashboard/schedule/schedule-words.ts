import * as v from 'valibot'

import { clockText } from '../ui/clock-text.ts'

/** When something is on, as the API has it: HHMM as numbers, ISO days (empty: all), dates or empty texts. */
export const scheduleItem = v.object({
  start_time: v.number(),
  end_time: v.number(),
  start_date: v.string(),
  end_date: v.string(),
  days: v.array(v.number())
})

type ScheduleItem = v.InferOutput<typeof scheduleItem>

/** A schedule in words, by the visitor's way to write times: `Mon–Fri 09:00–17:30, until 2026-12-24`. */
export function scheduleText({
  start_time: start,
  end_time: end,
  start_date,
  end_date,
  days
}: ScheduleItem): string {
  const from = timeText(start)
  const times = start === end ? `at ${from}` : `${from}–${timeText(end)}`
  return `${daysText(days)} ${times}${datesText(start_date, end_date)}`
}

const timeText = (hhmm: number) => clockText(Math.floor(hhmm / 100) * 60 + (hhmm % 100))

const names = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
const nameOf = (day = 1) => names[day - 1] ?? ''

/** Days that follow each other are told by the first and the last. */
function daysText(days: readonly number[]): string {
  if (days.length === 0 || days.length === 7) return 'Every day'
  const runs: number[][] = []
  for (const day of days.toSorted((a, b) => a - b)) {
    const run = runs.at(-1)
    if (run?.at(-1) === day - 1) run.push(day)
    else runs.push([day])
  }
  const texts = runs.flatMap(run =>
    run.length < 3 ? run.map(nameOf) : [`${nameOf(run[0])}–${nameOf(run.at(-1))}`]
  )
  return texts.join(', ')
}

function datesText(start: string, end: string): string {
  if (start === '' && end === '') return ''
  if (start === end) return ` on ${start}`
  if (start === '') return `, until ${end}`
  return end === '' ? `, from ${start}` : `, ${start} to ${end}`
}
