import type { ListenerSeries } from '../api/responses.ts'

type Points = ListenerSeries['points']

/** Describes a chart in a sentence, for screen readers. */
export function summarizeSeries(points: Points, formatTime: (seconds: number) => string): string {
  const [first] = points
  const last = points.at(-1)
  if (first === undefined || last === undefined) return 'No listener data yet'
  const peak = points.reduce((most, point) => (point.most > most.most ? point : most), first)
  const low = points.reduce((least, point) => (point.fewest < least.fewest ? point : least), first)
  return `Listeners since ${formatTime(first.at)}: ${last.total} now, peak ${peak.most} at ${formatTime(peak.at)}, minimum ${low.fewest} at ${formatTime(low.at)}`
}

/** Converts points to times and totals. A count covers the step that it ends; steps without data are gaps. */
export function toChartColumns({ points, step }: ListenerSeries): [number[], (number | null)[]] {
  const times: number[] = []
  const totals: (number | null)[] = []
  const add = (at: number, total: number | null) => {
    times.push(at)
    totals.push(total)
  }
  let end: number | null = null
  for (const { at, total } of points) {
    if (end !== null && at > end) add((end + at) / 2, null)
    if (end === null || at > end) add(at, total)
    end = at + step
    add(end, total)
  }
  return [times, totals]
}

const daySeconds = 86_400

/** The range of the time axis: 24 hours to the end of the last step, or to now if there are no points. */
export function chartDayRange({ points, step }: ListenerSeries, nowSeconds: number): [number, number] {
  const last = points.at(-1)
  const end = last === undefined ? nowSeconds : last.at + step
  return [end - daySeconds, end]
}
