import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

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
  await change(join(folder, 'src/redis/state-schema.ts'), [
    [
      'readableSchemas: readonly number[] = [3]',
      `readableSchemas: readonly number[] = ${JSON.stringify(readable)}`
    ],
    ['ownSchema = 3', `ownSchema: number = ${own}`],
    ['_schema: number', 'schema: number'],
    ['return JSON.stringify(state)', 'return JSON.stringify(schema === 4 ? { inner: state } : state)'],
    ['  value: unknown,\n  { schema, epoch', '  stored: any,\n  { schema, epoch'],
    [
      '  if (!readableSchemas',
      '  const value = schema === 4 ? stored?.inner : stored\n  if (!readableSchemas'
    ]
  ])
  if (lifetime === 'short')
    await change(join(folder, 'src/db/processes.ts'), [
      ["interval '5 minutes'", "interval '3 seconds'"],
      ['heartbeatMs = 5_000', 'heartbeatMs = 500']
    ])
  await buildIfStale(folder)
}

async function change(file: string, replacements: readonly (readonly [from: string, to: string])[]) {
  let text = await readFile(file, 'utf8')
  for (const [from, to] of replacements) {
    if (!text.includes(from)) throw new Error(`${file} has no ${from}`)
    text = text.replace(from, to)
  }
  await writeFile(file, text)
}
