/**
 * Mutants: small faults that are put into the program, to check whether tests detect them.
 *
 *     npm run mutants -- draw --seed 17 --unit 51 --integration-count 25 --at COMMIT
 *     npm run mutants -- run [--at COMMIT] [--only ID,ID] [--tests unit] [--integration]
 *
 * `draw` replaces the mutants of `mutants.json`, except those with a name. `run` tests a copy of the committed
 * project, so files can be edited meanwhile, and prints the result of each mutant. `--integration` runs the
 * integration tests for mutants that survive the unit tests.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

import * as v from 'valibot'

import { drawMutants } from './draw.ts'
import { type Mutant, mutantsSchema } from './mutant.ts'
import { runMutants } from './run.ts'
import { copyTree } from './tree.ts'

const list = new URL('mutants.json', import.meta.url)
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    at: { type: 'string', default: 'HEAD' },
    seed: { type: 'string', default: '17' },
    unit: { type: 'string', default: '51' },
    'integration-count': { type: 'string', default: '25' },
    only: { type: 'string' },
    tests: { type: 'string' },
    integration: { type: 'boolean', default: false }
  }
})

// Ends the tests of a mutant and removes the copy of the project with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const [command] = positionals
if (command === 'draw') draw()
else if (command === 'run') await run()
else {
  print('usage: npm run mutants -- draw|run; see test/by-hand/mutants/main.ts')
  process.exitCode = 1
}

function draw(): void {
  using tree = copyTree(values.at)
  const drawn = drawMutants(tree.root, tree.files, {
    seed: Number(values.seed),
    unit: Number(values.unit),
    integration: Number(values['integration-count'])
  })
  const named = readMutants().filter(({ id }) => !/^(unit|integration)-\d+$/.test(id))
  writeFileSync(list, `${JSON.stringify([...named, ...drawn], null, 2)}\n`)
  print(`${drawn.length} mutants drawn, ${named.length} kept`)
}

async function run(): Promise<void> {
  const only = values.only?.split(',')
  const mutants = readMutants()
    .filter(({ id }) => only === undefined || only.includes(id))
    .filter(({ tests }) => values.tests === undefined || values.tests === tests)
  using tree = copyTree(values.at)
  await runMutants(tree, mutants, { withIntegration: values.integration, report: print })
}

function readMutants(): Mutant[] {
  return v.parse(mutantsSchema, JSON.parse(readFileSync(list, 'utf8')))
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
