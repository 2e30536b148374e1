import type { Plan, QueuedRow } from './refill.ts'

/** The queue as it is after a plan. A new row's id is the negative number of its slot, which no stored row has. */
export function applyPlan(queue: readonly QueuedRow[], plan: Plan): QueuedRow[] {
  const gone = new Set(plan.withdraw)
  const moved = new Map(plan.move.map(row => [row.id, row]))
  const kept = queue
    .filter(({ id }) => !gone.has(id))
    .map(row => {
      const { position, cuedAtMs, startsAtMs, durationMs } = moved.get(row.id) ?? row
      return { ...row, position, cuedAtMs, startsAtMs, durationMs }
    })
  const added = plan.insert.map(({ seq, log: _log, uri: _uri, ...row }) => ({
    ...row,
    id: -seq,
    isSent: false,
    isManual: false
  }))
  return [...kept, ...added].toSorted(
    (a, b) => Number(b.isSent) - Number(a.isSent) || a.position - b.position
  )
}
