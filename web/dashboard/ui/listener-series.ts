import * as v from 'valibot'

const whole = v.number()

/** How many listened when, `api/station/{id}/listeners/series`. */
export const listenerSeries = v.object({
  step: whole,
  points: v.array(v.object({ at: whole, total: whole, most: whole, fewest: whole }))
})
export type Series = v.InferOutput<typeof listenerSeries>
export type Points = Series['points']

/** What a chart shows, in a sentence, for those who do not see it. */
export function summaryOf(points: Points, timeOf: (seconds: number) => string): string {
  const [first] = points
  const last = points.at(-1)
  if (first === undefined || last === undefined) return 'Nobody counted listeners yet'
  const peak = points.reduce((most, point) => (point.most > most.most ? point : most), first)
  const low = points.reduce((least, point) => (point.fewest < least.fewest ? point : least), first)
  return `Listeners since ${timeOf(first.at)}: ${last.total} now, at most ${peak.most} at ${timeOf(peak.at)}, at least ${low.fewest} at ${timeOf(low.at)}`
}
