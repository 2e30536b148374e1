/** Finds the commit of the sources, which is part of the version: `0.3.0+abc1234`. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** `git archive` replaces it (`.gitattributes`). */
const archived = '$Format:%h$'
const isCommit = text => /^[0-9a-f]{7,40}(\.dirty)?$/.test(text)

/**
 * Returns the commit of a project folder in seven digits or a few more, with `.dirty` if files differ from it; empty if
 * it is unknown. `COMMIT` in the environment names it where there is no repository, as in the build of an image.
 *
 * @param {string} folder
 * @param {Readonly<Record<string, string | undefined>>} [env]
 */
export function findCommit(folder, env = process.env) {
  const given = (env.COMMIT ?? '').toLowerCase()
  if (isCommit(given)) return given.replace(/^([0-9a-f]{7})[0-9a-f]*/, '$1')
  // Not that of a repository in which the folder merely lies.
  if (!existsSync(join(folder, '.git'))) return isCommit(archived) ? archived : ''
  const words = ['-C', folder, 'describe', '--always', '--exclude=*', '--abbrev=7', '--dirty=.dirty']
  const { status, stdout } = spawnSync('git', words, {
    encoding: 'utf8',
    // Takes no lock, so that it never disturbs another git.
    env: { ...env, GIT_OPTIONAL_LOCKS: '0' },
    timeout: 10_000
  })
  const found = status === 0 ? stdout.trim() : ''
  return isCommit(found) ? found : ''
}
