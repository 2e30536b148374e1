import type { OperationDialect } from '../record-dialect.ts'

const daySeconds = 86_400

/** AzuraCast takes times as text, a range of days, and answers five rows. */
export const listSchedule: OperationDialect = {
  query(query) {
    const [start, end, now] = ['start', 'end', 'now'].map(name => toSeconds(query.get(name)))
    if (start !== undefined && end !== undefined) {
      query.set('now', String(start))
      query.set('days', String(Math.min(31, Math.max(1, Math.ceil((end - start) / daySeconds)))))
      query.set('rows', '500')
    } else {
      if (now !== undefined) query.set('now', String(now))
      if (!query.has('rows')) query.set('rows', '5')
    }
  }
}

/** Unix seconds of a time or of a day, in UTC without an offset. */
function toSeconds(text: string | null | undefined): number | undefined {
  if (!text) return undefined
  const milliseconds = /^\d{1,12}$/.test(text) ? Number(text) * 1000 : Date.parse(text.replace(' ', '+'))
  return Number.isNaN(milliseconds) ? undefined : Math.floor(milliseconds / 1000)
}
