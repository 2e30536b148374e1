/**
 * Finds a Node version with a binary of uWebSockets.js: the current one, or Node 22, which is downloaded from
 * npm. Uses only Node and npm.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path'

import { chooseBinding, explainNoBinding } from './uws-binding.mjs'

/** The newest version with a binary for each supported libc. */
const otherMajor = 22

const fetchMs = 10 * 60_000

/**
 * Returns the Node to use, its version, and the environment for its children; null if there is none. `log`
 * logs if it is not the current one.
 *
 * @param {import('./uws-binding.mjs').Platform} platform that of this process
 * @param {(message: string) => void} log
 */
export function findNode(platform, log) {
  if (chooseBinding(platform) !== null)
    return { path: process.execPath, version: platform.node, env: process.env }
  const other = { ...platform, node: `${otherMajor}.0.0` }
  if (chooseBinding(other) === null) {
    log(explainNoBinding(other))
    return null
  }
  const why = explainNoBinding(platform)
  const found = readCachedNode(platform) ?? installOther(platform, log)
  if ('problem' in found) {
    log(`${why} (it could not be downloaded from npm: ${found.problem})`)
    return null
  }
  log(`${why.replace(/: .*/, '')}; running under Node ${found.version} from npm`)
  const PATH = [dirname(found.path), process.env.PATH].join(delimiter)
  return { ...found, env: { ...process.env, PATH } }
}

/** Caches the path of the downloaded Node, because npm takes two seconds to find it. */
function cacheFile() {
  const given = process.env.XDG_CACHE_HOME ?? ''
  const cache = isAbsolute(given) ? given : join(homedir(), '.cache')
  return join(cache, 'cuewire', `node-${otherMajor}.json`)
}

function readCachedNode(platform) {
  try {
    const { path, version } = JSON.parse(readFileSync(cacheFile(), 'utf8'))
    return existsSync(path) && hasBinding(platform, version) ? { path, version } : null
  } catch {
    return null
  }
}

const hasBinding = (platform, version) => chooseBinding({ ...platform, node: version }) !== null

function installOther(platform, log) {
  log(`downloading Node ${otherMajor} from npm`)
  // An own folder, because npm reads the .npmrc of its working folder, which other users may control.
  const folder = mkdtempSync(join(tmpdir(), 'cuewire-npm-'))
  try {
    const found = fetchNode(folder)
    if ('problem' in found) return found
    if (hasBinding(platform, found.version)) {
      cacheNode(found)
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
  // The install script of the package needs permission in npm 12.
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

/** See `cacheFile`. */
function cacheNode(found) {
  try {
    mkdirSync(dirname(cacheFile()), { recursive: true })
    writeFileSync(cacheFile(), JSON.stringify(found))
  } catch {
    // Only makes the next start faster.
  }
}
