import { expect, test } from 'vitest'

import { renderFigures } from '../chaos/figures.ts'
import type { FaultKind } from '../chaos/plan.ts'
import { runChaos } from '../chaos/run.ts'

/** Kinds of faults that are short and require neither root nor another build. */
const kinds: readonly FaultKind[] = [
  'kill-server',
  'kill-uploads',
  'flush-redis',
  'kill-workers',
  'pause-workers',
  'kill-redis',
  'restore-redis',
  'kill-postgres',
  'terminate-backends',
  'lock-rows',
  'cut-store',
  'clock-kill'
]

test.for([18, 21])('with random faults of seed %i no rule is violated', { timeout: 150_000 }, async seed => {
  const lines: string[] = []
  const result = await runChaos({
    seed,
    forMs: 30_000,
    kinds,
    stations: 4,
    keepsGoing: false,
    signal: AbortSignal.timeout(130_000),
    report: line => lines.push(line)
  })
  expect(result.journal.firstReport(), `faults:\n${lines.join('\n')}`).toBeNull()
  expect(result.faults.size, `figures:\n${renderFigures(result)}`).toBeGreaterThan(1)
  expect(result.positionsCompared).toBeGreaterThan(50)
})
