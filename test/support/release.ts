import { execFile } from 'node:child_process'
import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { buildIfStale } from '../../scripts/build.mjs'

const root = fileURLToPath(new URL('../../', import.meta.url))

const parts = ['src', 'workers', 'web', 'assets', 'scripts', 'package.json', 'package-lock.json']

/** The format of live states of a release: 3 is that of this version, 4 is artificial. */
export interface ReleaseSchemas {
  readonly readable: readonly number[]
  readonly own: number
  /** `short`: it waits three seconds for older processes to end instead of five minutes. */
  readonly lifetime?: 'short' | 'real'
}

/**
 * Builds a release of this program with another format of live states in an empty folder; by default with
 * short delays.
 */
export async function buildRelease(
  folder: string,
  { readable, own, lifetime = 'short' }: ReleaseSchemas
): Promise<void> {
  for (const part of parts) await cp(join(root, part), join(folder, part), { recursive: true })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  await change(join(folder, 'src/stores/redis/state-schema.ts'), [
    [
      'readableStateSchemas: readonly number[] = [3]',
      `readableStateSchemas: readonly number[] = ${JSON.stringify(readable)}`
    ],
    ['ownStateSchema = 3', `ownStateSchema: number = ${own}`],
    ['_schema: number', 'schema: number'],
    ['return JSON.stringify(state)', 'return JSON.stringify(schema === 4 ? { inner: state } : state)'],
    ['  value: unknown,\n  { schema, epoch', '  stored: any,\n  { schema, epoch'],
    [
      '  if (!readableStateSchemas',
      '  const value = schema === 4 ? stored?.inner : stored\n  if (!readableStateSchemas'
    ]
  ])
  if (lifetime === 'short') {
    await shortenLifetime(join(folder, 'src/stores/db/processes.ts'))
    await change(join(folder, 'src/stores/db/upgrade-step.ts'), [shortInterval])
    const slow = "pauseMs: minute,\n    failure: 'an upgrade step failed'"
    await change(join(folder, 'workers/tasks.ts'), [[slow, slow.replace('minute', 'second / 2')]])
  }
  await buildIfStale(folder)
}

const shortInterval = ["interval '5 minutes'", "interval '3 seconds'"] as const

const shortenLifetime = (file: string) =>
  change(file, [shortInterval, ['heartbeatMs = 5_000', 'heartbeatMs = 500']])

/** The commit of release 0.2.0, the one before this. */
const releaseBefore = '958c314b'

const run = promisify(execFile)

/** Whether this is a clone with the history that `buildReleaseBefore` needs. */
export const hasReleaseBefore = (): Promise<boolean> =>
  run('git', ['cat-file', '-e', `${releaseBefore}^{commit}`], { cwd: root }).then(
    () => true,
    () => false
  )

/** Builds the release before this one in an empty folder, with its own packages and with short delays. */
export async function buildReleaseBefore(folder: string): Promise<void> {
  const archive = join(folder, 'release.tar')
  await run('git', ['archive', '--output', archive, releaseBefore, 'patches', ...parts], { cwd: root })
  await run('tar', ['-xf', archive, '-C', folder])
  await run('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline'], { cwd: folder })
  await shortenLifetime(join(folder, 'src/db/processes.ts'))
  // Its own script knows its programs.
  await run(process.execPath, ['scripts/build.mjs'], { cwd: folder })
}

async function change(file: string, replacements: readonly (readonly [from: string, to: string])[]) {
  let text = await readFile(file, 'utf8')
  for (const [from, to] of replacements) {
    if (!text.includes(from)) throw new Error(`${file} has no ${from}`)
    text = text.replace(from, to)
  }
  await writeFile(file, text)
}
