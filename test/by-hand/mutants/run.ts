import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'

import * as v from 'valibot'

import { applyMutant, type MutatedFile, type Mutant } from './mutant.ts'
import type { Tree } from './tree.ts'

/** The result of a mutant; `reason` is the first test that failed. */
export interface Verdict {
  readonly outcome: 'killed' | 'survived' | 'not found'
  readonly reason: string
}

export interface RunOptions {
  /** Whether integration tests are run for mutants that survive the unit tests. */
  readonly withIntegration: boolean
  readonly report: (line: string) => void
}

type Project = 'unit' | 'integration'

/**
 * A test run that uses more CPU time than this counts as a kill. It is not a limit of elapsed time, so that a
 * busy machine kills nothing.
 */
const maxCpuSeconds = { unit: 300, integration: 3_000 }

/**
 * Runs the tests against each mutant in a copy of the project. Throws if the unit tests fail without a
 * mutant.
 */
export async function runMutants(tree: Tree, mutants: readonly Mutant[], options: RunOptions): Promise<void> {
  const { withIntegration, report } = options
  const baseline = await runTests(tree, 'unit', [])
  if (baseline.failure !== null) throw new Error(`the unit tests fail without a mutant: ${baseline.failure}`)

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
      const reason = await firstFailure(mutated)
      return reason === null ? { outcome: 'survived', reason: '' } : { outcome: 'killed', reason }
    } finally {
      writeFileSync(join(tree.root, mutated.file), tree.files.get(mutated.file) ?? '')
    }
  }

  /** Runs the tests that are most likely to fail first: the unit tests that load the file. */
  async function firstFailure({ file }: MutatedFile): Promise<string | null> {
    const related = await runTests(tree, 'unit', ['related', file])
    if (related.failure !== null) return related.failure
    const others = [...tree.files.keys()].filter(
      name => /^test\/unit\/.*\.test\.ts$/.test(name) && !related.files.includes(name)
    )
    const { failure } = await runTests(tree, 'unit', others)
    if (failure !== null || !withIntegration) return failure
    // Tests get pages as a bundle from a server, which `vitest related` does not detect.
    const selection = file.startsWith('web/') ? pageTests : ['related', file]
    return (await runTests(tree, 'integration', selection)).failure
  }
}

const pageTests = ['browser', 'pages', 'dashboard', 'client', 'web-files', 'docs']

interface TestRun {
  /** The first failed test, or null if all passed. */
  readonly failure: string | null
  /** The files that were run, relative to the root. */
  readonly files: readonly string[]
}

/** Runs tests up to the first failure; all tests of the project if the selection is empty. */
async function runTests({ root }: Tree, project: Project, selection: readonly string[]): Promise<TestRun> {
  const output = join(root, 'tests.json')
  rmSync(output, { force: true })
  const options = ['--run', '--passWithNoTests', '--bail=1', '--reporter=json', `--outputFile=${output}`]
  const ofProject = [`--project=${project}`, ...(project === 'unit' ? ['--testTimeout=3600000'] : [])]
  const words = [...selection, ...ofProject, ...options]
  const vitest = spawn(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), ...words], {
    cwd: root,
    stdio: 'ignore',
    // In a separate process group, so that all processes can be ended together.
    detached: true
  })
  const group = vitest.pid ?? fail()
  const end = () => process.kill(-group, 'SIGKILL')
  process.once('exit', end)
  let isOver = false
  const watch = setInterval(() => void endIfOver(), 5_000)
  const [code] = await once(vitest, 'exit')
  clearInterval(watch)
  process.off('exit', end)
  const report = readReport(output)
  if (isOver) return { failure: `${project}: more than ${maxCpuSeconds[project]} s of CPU time`, files: [] }
  const files = report.map(({ name }) => relative(root, name))
  return { failure: code === 0 ? null : `${project}: ${failureIn(report, root)}`, files }

  async function endIfOver(): Promise<void> {
    if (vitest.exitCode !== null || vitest.signalCode !== null) return
    isOver ||= (await cpuSecondsOf(group)) > maxCpuSeconds[project]
    if (isOver) end()
  }
}

function fail(): never {
  throw new Error('vitest cannot be started')
}

/** The CPU time of the running processes of a group. */
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

type TestReport = v.InferOutput<typeof reportSchema>['testResults']

function readReport(output: string): TestReport {
  try {
    return v.parse(reportSchema, JSON.parse(readFileSync(output, 'utf8'))).testResults
  } catch {
    return []
  }
}

function failureIn(report: TestReport, root: string): string {
  for (const { name, message, status, assertionResults } of report) {
    const failed = assertionResults.find(each => each.status === 'failed')
    if (failed) return `${relative(root, name)}: ${failed.fullName}`
    if (status === 'failed' && message !== '') return `${relative(root, name)}: ${message.split('\n')[0]}`
  }
  return 'an error outside of a test'
}
