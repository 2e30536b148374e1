import type { RunResult } from './run.ts'

/** Renders the figures of a run as text. */
export function renderFigures({
  journal,
  faults,
  seconds,
  maxLoopDelayMs,
  positionsCompared,
  epochs
}: RunResult): string {
  const kinds = [...faults].toSorted(([a], [b]) => a.localeCompare(b))
  const total = kinds.reduce((sum, [, count]) => sum + count, 0)
  const counts = [...journal.counts()].toSorted(([a], [b]) => a.localeCompare(b))
  return [
    `${seconds.toFixed(0)} s, ${total} faults:`,
    ...kinds.map(([kind, count]) => `  ${kind.padEnd(20)} ${count}`),
    'figures:',
    ...counts.map(([name, count]) => line(name, String(count))),
    line('documents with the same position compared', String(positionsCompared)),
    line('epochs', String(epochs)),
    line('largest event loop delay of the checker, ms', maxLoopDelayMs.toFixed(0)),
    ...[...journal.durations()].map(([name, values]) => line(name, renderQuantiles(values)))
  ].join('\n')
}

const line = (name: string, value: string) => `  ${name.padEnd(44)} ${value}`

function renderQuantiles(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(0)
  return `median ${at(0.5)}, 99 % ${at(0.99)}, most ${at(1)} (${sorted.length})`
}
