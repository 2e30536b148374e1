/**
 * Runs the whole program under random faults and load, and checks its invariants.
 *
 *     npm run chaos -- --minutes 10 --seed 7 [--kinds kill-server,flush-redis] [--stations 6] [--keep-going]
 *
 * The same seed results in the same faults and actions. Exits with 1 at the first violation, printed with the
 * events before it; with `--keep-going` at the end. See docs/testing.md.
 */
import { parseArgs } from 'node:util'

import { renderFigures } from './figures.ts'
import { faultKinds, isFaultKind } from './plan.ts'
import { runChaos } from './run.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string' },
    kinds: { type: 'string' },
    stations: { type: 'string', default: '6' },
    'keep-going': { type: 'boolean', default: false }
  }
})

const print = (line: string) => void process.stdout.write(`${line}\n`)

function numberOf(name: string, text: string, most: number): number {
  const number = Number(text)
  if (number > 0 && number <= most) return number
  print(`--${name} must be a number above 0 and at most ${most} (got "${text}")`)
  return process.exit(2)
}

const minutes = numberOf('minutes', values.minutes, 24 * 60)
const stations = Math.ceil(numberOf('stations', values.stations, 50))
const seed =
  values.seed === undefined
    ? 1 + Math.floor(Math.random() * 1_000_000)
    : Math.floor(numberOf('seed', values.seed, 2 ** 31))
const kinds = values.kinds?.split(',') ?? faultKinds
const unknown = kinds.filter(kind => !isFaultKind(kind))
if (unknown.length > 0) {
  print(`--kinds has no ${unknown.join(', ')}; there are ${faultKinds.join(', ')}`)
  process.exit(2)
}

const stopping = new AbortController()
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(name, () => {
    if (stopping.signal.aborted) process.exit(130)
    stopping.abort()
  })
process.once('disconnect', () => stopping.abort())
process.channel?.unref()

print(`seed ${seed}, ${minutes} min`)
const result = await runChaos({
  seed,
  forMs: minutes * 60_000,
  kinds: kinds.filter(isFaultKind),
  stations,
  keepsGoing: values['keep-going'],
  signal: stopping.signal,
  report: print
})
print(renderFigures(result))
const violations = result.journal.violations()
if (violations.length > 0) {
  print(`\nseed ${seed}: ${violations.length} violations; the first one:\n`)
  print(result.journal.firstReport() ?? '')
} else print(`seed ${seed}: no violation`)
// Clients may still wait for responses of stopped servers.
process.exit(violations.length > 0 ? 1 : stopping.signal.aborted ? 130 : 0)
