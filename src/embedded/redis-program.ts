import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { OperatorError } from '../errors.ts'
import { installRedis } from './redis-install.ts'

const names = ['redis-server', 'valkey-server']
// Where the system's packages put it when the path of an ordinary user does not lead there.
const moreFolders = ['/usr/local/bin', '/usr/sbin', '/opt/homebrew/bin']
const container = 'run one with docker run -d -p 127.0.0.1:6379:6379 valkey/valkey:8 and set REDIS_URL'

/** The absolute path of a Redis or Valkey server, version 7 or newer; installed first where there is none. */
export async function findRedisProgram(): Promise<string> {
  let found = await installed()
  if (found.length === 0) {
    await installRedis()
    found = await installed()
  }
  const fit = found.find(program => program.major >= 7)
  if (fit) return fit.path
  const [old] = found
  const why = old
    ? `${old.path} is version ${old.major}, too old (7 or newer is needed)`
    : 'the package manager installed no redis-server'
  throw new OperatorError(`${why}: install a newer Redis or Valkey, or ${container}`)
}

async function installed(): Promise<{ path: string; major: number }[]> {
  const folders = [...(process.env['PATH'] ?? '').split(':').filter(Boolean), ...moreFolders]
  const paths = names.flatMap(name => folders.map(folder => join(folder, name)))
  const found = []
  for (const path of new Set(paths)) {
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false
    )
    const major = isThere ? await majorOf(path) : undefined
    if (major !== undefined) found.push({ path, major })
  }
  return found
}

async function majorOf(path: string): Promise<number | undefined> {
  const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 5_000 }).catch(() => ({
    stdout: ''
  }))
  return majorIn(stdout)
}

/** The major version in what `redis-server --version` or `valkey-server --version` writes. */
export function majorIn(text: string): number | undefined {
  const major = /\bv=(\d+)\./.exec(text)?.[1]
  return major === undefined ? undefined : Number(major)
}
