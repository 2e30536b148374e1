import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import * as v from 'valibot'

import { applyMutant, type MutatedFile, type Mutant } from './mutant.ts'
import type { Tree } from './tree.ts'

/** What became of a mutant; `reason` is the first test that failed. */
export interface Verdict {
  readonly outcome: 'killed' | 'survived' | 'not found'
  readonly reason: string
}

export interface RunOptions {
  /** Whether integration tests are run where unit tests do not kill. */
  readonly withIntegration: boolean
  readonly report: (line: string) => void
}

type Project = 'unit' | 'integration'

/** How much longer than without a mutant the tests may take. More counts as killed. */
const slowdown = 4
const timeoutMs = { unit: 300_000, integration: 1_800_000 }

/** Runs the tests against each mutant in a copy of the project. Throws if the unit tests fail without any. */
export async function runMutants(tree: Tree, mutants: readonly Mutant[], options: RunOptions): Promise<void> {
  const { withIntegration, report } = options
  const startedMs = performance.now()
  const failure = await firstFailure(tree, 'unit', [], timeoutMs.unit * slowdown)
  if (failure !== null) throw new Error(`the unit tests fail without a mutant: ${failure}`)
  const baselineMs = performance.now() - startedMs
  report(`unit tests without a mutant: ${(baselineMs / 1_000).toFixed(0)} s`)

  const counts = { killed: 0, survived: 0, 'not found': 0 }
  for (const mutant of mutants) {
    const { outcome, reason } = await verdictOn(mutant)
    counts[outcome]++
    report(`${outcome}  ${mutant.id}  ${mutant.file}  ${mutant.operator}`)
    report(`  - ${mutant.line.trim()}`)
    report(`  + ${mutant.replacement.trim()}`)
    if (reason !== '') report(`  ${reason}`)
  }
  report(`${counts.killed} killed, ${counts.survived} survived, ${counts['not found']} not found`)

  async function verdictOn(mutant: Mutant): Promise<Verdict> {
    const mutated = applyMutant(mutant, tree.files)
    if (!mutated) return { outcome: 'not found', reason: '' }
    const unitMs = Math.max(timeoutMs.unit, baselineMs * slowdown)
    writeFileSync(join(tree.root, mutated.file), mutated.text)
    try {
      const reason =
        (await firstFailure(tree, 'unit', relatedTo(mutated), unitMs)) ??
        (await firstFailure(tree, 'unit', [], unitMs)) ??
        (withIntegration
          ? await firstFailure(tree, 'integration', relatedTo(mutated), timeoutMs.integration)
          : null)
      return reason === null ? { outcome: 'survived', reason: '' } : { outcome: 'killed', reason }
    } finally {
      writeFileSync(join(tree.root, mutated.file), tree.files.get(mutated.file) ?? '')
    }
  }
}

/** Pages reach tests as a bundle that a server delivers, which `vitest related` does not see. */
const pageTests = ['browser', 'pages', 'dashboard', 'client', 'web-files', 'docs']

type Selection = readonly string[]

const relatedTo = ({ file }: MutatedFile): Selection => ['related', file]

/** The first test that fails, or null if all that are selected pass. */
async function firstFailure(
  { root }: Tree,
  project: Project,
  selection: Selection,
  limitMs: number
): Promise<string | null> {
  const isPage = project === 'integration' && selection[1]?.startsWith('web/') === true
  const output = join(root, 'tests.json')
  rmSync(output, { force: true })
  const options = ['--run', '--passWithNoTests', '--bail=1', '--reporter=json', `--outputFile=${output}`]
  const words = [...(isPage ? pageTests : selection), `--project=${project}`, ...options]
  const vitest = spawn(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), ...words], {
    cwd: root,
    stdio: 'ignore',
    // A group of its own, so that what tests have started ends with them.
    detached: true
  })
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    if (vitest.pid !== undefined) process.kill(-vitest.pid, 'SIGKILL')
  }, limitMs)
  const [code] = await once(vitest, 'exit')
  clearTimeout(timer)
  if (isLate) return `timeout: ${project} tests took more than ${(limitMs / 1_000).toFixed(0)} s`
  return code === 0 ? null : `${project}: ${failureIn(output)}`
}

const reportSchema = v.object({
  testResults: v.array(
    v.object({
      name: v.string(),
      message: v.string(),
      status: v.string(),
      assertionResults: v.array(v.object({ status: v.string(), fullName: v.string() }))
    })
  )
})

function failureIn(output: string): string {
  try {
    const { testResults } = v.parse(reportSchema, JSON.parse(readFileSync(output, 'utf8')))
    for (const { name, message, status, assertionResults } of testResults) {
      const file = name.slice(name.indexOf('/test/') + 1)
      const failed = assertionResults.find(each => each.status === 'failed')
      if (failed) return `${file}: ${failed.fullName}`
      if (status === 'failed' && message !== '') return `${file}: ${message.split('\n')[0]}`
    }
    return 'an error outside of a test'
  } catch {
    return 'the tests ended without a report'
  }
}
