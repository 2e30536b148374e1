import type { Violation } from './violation.ts'

/** The newest events of each station and of the whole run, with a size limit. */
export interface Journal {
  /** Records an event of a station, or of the run if the id is null. */
  readonly note: (stationId: number | null, event: string) => void
  /** Increases a counter of the figures. */
  readonly count: (name: string, by?: number) => void
  /** Records a duration for the figures. */
  readonly measure: (name: string, ms: number) => void
  /** Records violations. The report of the first one contains the events before it. */
  readonly violate: (violations: readonly Violation[]) => void
  readonly violations: () => readonly Violation[]
  /** The first violation with the events before it, or null. */
  readonly firstReport: () => string | null
  readonly counts: () => ReadonlyMap<string, number>
  readonly durations: () => ReadonlyMap<string, readonly number[]>
}

const eventsKept = 60
const durationsKept = 20_000
const violationsKept = 100

/** Opens an empty journal. `describeFault` returns the active fault. */
export function openJournal(describeFault: () => string): Journal {
  const events = new Map<number | null, string[]>()
  const counts = new Map<string, number>()
  const durations = new Map<string, number[]>()
  const violations: Violation[] = []
  /** The same violation may be found again after each of the following faults. */
  const known = new Set<string>()
  let first: string | null = null
  const startedAtMs = performance.now()

  const time = () => `${((performance.now() - startedAtMs) / 1000).toFixed(3).padStart(9)} s`
  const note: Journal['note'] = (stationId, event) => {
    const list = events.get(stationId) ?? []
    list.push(`${time()}  ${event}`)
    if (list.length > eventsKept) list.shift()
    events.set(stationId, list)
  }

  return {
    note,
    count: (name, by = 1) => void counts.set(name, (counts.get(name) ?? 0) + by),
    measure: (name, ms) => {
      const list = durations.get(name) ?? []
      if (list.length < durationsKept) list.push(ms)
      durations.set(name, list)
    },
    violate: found => {
      for (const violation of found) {
        const { rule, stationId, detail } = violation
        const key = `${rule} ${stationId} ${detail}`
        if (known.has(key)) continue
        if (known.size < violationsKept) known.add(key)
        if (violations.length < violationsKept) violations.push(violation)
        first ??= report(violation)
      }
    },
    violations: () => violations,
    firstReport: () => first,
    counts: () => counts,
    durations: () => durations
  }

  function report({ rule, stationId, detail }: Violation): string {
    const lines = stationId === null ? [] : (events.get(stationId) ?? [])
    const run = events.get(null) ?? []
    return [
      `VIOLATION at ${time().trim()}: ${rule}`,
      ...(stationId === null ? [] : [`station ${stationId}`]),
      detail,
      `on: ${describeFault()}`,
      ...(lines.length === 0 ? [] : ['', `newest events of station ${stationId}:`, ...lines]),
      '',
      'newest events of the run:',
      ...run
    ].join('\n')
  }
}
