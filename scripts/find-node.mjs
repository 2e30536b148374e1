/**
 * Finds a Node that has a binary of uWebSockets.js: this one, or Node 22 from the npm package `node`, which is fetched
 * without asking. Uses nothing but Node and npm.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path'

import { chooseBinding, explainNoBinding } from './uws-binding.mjs'

/** The newest version with a binary for every libc that any version has one for. */
const otherMajor = 22

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
  const found = findRemembered() ?? fetchNode()
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

function findRemembered() {
  try {
    const { path, version } = JSON.parse(readFileSync(memoryFile(), 'utf8'))
    return existsSync(path) ? { path, version } : null
  } catch {
    return null
  }
}

function fetchNode() {
  const npm = process.env.npm_execpath ?? ''
  const program = basename(npm) === 'npm-cli.js' ? [process.execPath, npm] : ['npm']
  const code = `node -p "JSON.stringify({ path: process.execPath, version: process.versions.node })"`
  const words = [...program, 'exec', '--yes', '--package', `node@${otherMajor}`, '--call', code]
  const [command = '', ...args] = words
  const { error, status, stdout, stderr } = spawnSync(command, args, { cwd: tmpdir(), encoding: 'utf8' })
  if (error) return { problem: error.message }
  const line = stdout.trim().split('\n').at(-1) ?? ''
  if (status !== 0 || !line.startsWith('{')) {
    const [first = `exit code ${status}`] = stderr.split('\n').filter(each => /npm error \S/.test(each))
    return { problem: first.replace('npm error ', '') }
  }
  const found = JSON.parse(line)
  try {
    mkdirSync(dirname(memoryFile()), { recursive: true })
    writeFileSync(memoryFile(), JSON.stringify(found))
  } catch {
    // Only a shortcut for the next start.
  }
  return found
}
