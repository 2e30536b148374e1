/**
 * Finds a Node that has a binary of uWebSockets.js: this one, or Node 22 from the npm package `node`, which is fetched
 * without asking. Uses nothing but Node and npm.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path'

import { chooseBinding, explainNoBinding } from './uws-binding.mjs'

/** The newest version with a binary for every libc that any version has one for. */
const otherMajor = 22

/** Fetching Node takes seconds, and on a slow line minutes. */
const fetchMs = 10 * 60_000

/**
 * Returns the Node to run with, its version and the environment for what it starts; null where there is none. `say` gets
 * one line about another Node than this one, or about none.
 *
 * @param {import('./uws-binding.mjs').Platform} platform this process's
 * @param {(message: string) => void} say
 */
export function findNode(platform, say) {
  if (chooseBinding(platform) !== null)
    return { path: process.execPath, version: platform.node, env: process.env }
  const other = { ...platform, node: `${otherMajor}.0.0` }
  if (chooseBinding(other) === null) {
    say(explainNoBinding(other))
    return null
  }
  const why = explainNoBinding(platform)
  const found = findRemembered(platform) ?? fetchOther(platform, say)
  if ('problem' in found) {
    say(`${why} (it could not be fetched from npm: ${found.problem})`)
    return null
  }
  say(`${why.replace(/: .*/, '')}; running under Node ${found.version} from npm`)
  const PATH = [dirname(found.path), process.env.PATH].join(delimiter)
  return { ...found, env: { ...process.env, PATH } }
}

/** Where npm put it is asked once: that takes two seconds each time. */
function memoryFile() {
  const given = process.env.XDG_CACHE_HOME ?? ''
  const cache = isAbsolute(given) ? given : join(homedir(), '.cache')
  return join(cache, 'cuewire', `node-${otherMajor}.json`)
}

function findRemembered(platform) {
  try {
    const { path, version } = JSON.parse(readFileSync(memoryFile(), 'utf8'))
    return existsSync(path) && hasBinding(platform, version) ? { path, version } : null
  } catch {
    return null
  }
}

const hasBinding = (platform, version) => chooseBinding({ ...platform, node: version }) !== null

function fetchOther(platform, say) {
  say(`fetching Node ${otherMajor} from npm`)
  // npm obeys an .npmrc where it is started, and others may have put one into a folder that all can write.
  const folder = mkdtempSync(join(tmpdir(), 'cuewire-npm-'))
  try {
    const found = fetchNode(folder)
    if ('problem' in found) return found
    if (hasBinding(platform, found.version)) {
      remember(found)
      return found
    }
    return { problem: `npm ran Node ${found.version} instead` }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function fetchNode(cwd) {
  const npm = process.env.npm_execpath ?? ''
  const program = basename(npm) === 'npm-cli.js' ? [process.execPath, npm] : ['npm']
  const code = `node -p "JSON.stringify({ path: process.execPath, version: process.versions.node })"`
  // The package puts its Node in place when it is installed, which npm 12 allows only where it is named.
  const options = ['--yes', '--allow-scripts=node', '--fetch-retries=1']
  const words = [...program, 'exec', ...options, '--package', `node@${otherMajor}`, '--call', code]
  const [command = '', ...args] = words
  const { error, status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    timeout: fetchMs
  })
  if (error) return { problem: error.message }
  const line = stdout.trim().split('\n').at(-1) ?? ''
  if (status !== 0 || !line.startsWith('{')) {
    const errors = stderr.split('\n').flatMap(each => /^npm error (\S.*)/.exec(each)?.[1] ?? [])
    return { problem: errors.slice(0, 3).join('; ') || `exit code ${status}` }
  }
  return JSON.parse(line)
}

/** Remembers where npm put a Node; see `memoryFile`. */
function remember(found) {
  try {
    mkdirSync(dirname(memoryFile()), { recursive: true })
    writeFileSync(memoryFile(), JSON.stringify(found))
  } catch {
    // Only a shortcut for the next start.
  }
}
