import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

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

/**
 * A run of tests that uses more CPU time than this counts as a kill. It is no limit of the clock, so that a busy machine
 * kills nothing.
 */
const maxCpuSeconds = { unit: 300, integration: 3_000 }

/** Runs the tests against each mutant in a copy of the project. Throws if the unit tests fail without any. */
export async function runMutants(tree: Tree, mutants: readonly Mutant[], options: RunOptions): Promise<void> {
  const { withIntegration, report } = options
  const failure = await firstFailure(tree, 'unit', [])
  if (failure !== null) throw new Error(`the unit tests fail without a mutant: ${failure}`)

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
    writeFileSync(join(tree.root, mutated.file), mutated.text)
    try {
      const related = relatedTo(mutated)
      const reason =
        (await firstFailure(tree, 'unit', related)) ??
        (await firstFailure(tree, 'unit', [])) ??
        (withIntegration ? await firstFailure(tree, 'integration', related) : null)
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
async function firstFailure({ root }: Tree, project: Project, selection: Selection): Promise<string | null> {
  const isPage = project === 'integration' && selection[1]?.startsWith('web/') === true
  const output = join(root, 'tests.json')
  rmSync(output, { force: true })
  const options = ['--run', '--passWithNoTests', '--bail=1', '--reporter=json', `--outputFile=${output}`]
  const ofProject = [`--project=${project}`, ...(project === 'unit' ? ['--testTimeout=3600000'] : [])]
  const words = [...(isPage ? pageTests : selection), ...ofProject, ...options]
  const vitest = spawn(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), ...words], {
    cwd: root,
    stdio: 'ignore',
    // A process group of its own, so that everything can be ended together.
    detached: true
  })
  const group = vitest.pid ?? 0
  let isOver = false
  const watch = setInterval(() => void endIfOver(), 5_000)
  const [code] = await once(vitest, 'exit')
  clearInterval(watch)
  if (isOver) return `${project}: more than ${maxCpuSeconds[project]} s of CPU time`
  return code === 0 ? null : `${project}: ${failureIn(output)}`

  async function endIfOver(): Promise<void> {
    isOver ||= (await cpuSecondsOf(group)) > maxCpuSeconds[project]
    if (isOver && vitest.exitCode === null) process.kill(-group, 'SIGKILL')
  }
}

/** The CPU time of the processes of a group that run. */
async function cpuSecondsOf(group: number): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pgid=,time='])
  return stdout
    .split('\n')
    .map(line => line.trim().split(/\s+/))
    .filter(([id]) => Number(id) === group)
    .map(([, time = '']) => {
      const [seconds = 0, minutes = 0, hours = 0, days = 0] = time.split(/[-:]/).map(Number).toReversed()
      return seconds + 60 * (minutes + 60 * (hours + 24 * days))
    })
    .reduce((sum, seconds) => sum + seconds, 0)
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
