/**
 * Runs a program, a TypeScript file beside it (`bench`, `test`), or the tests, on a clone in any state:
 *
 *     node scripts/run.mjs FILE [args...]
 *     node scripts/run.mjs --vitest [args...]
 *
 * Installs the npm packages first where they are missing or do not match package-lock.json, and builds `dist` where that
 * is out of date: programs (`src`, `workers`) run from there. Then it stands aside: the
 * child has our stdio and works in the project folder, gets SIGTERM, SIGINT and SIGHUP once each time they are
 * sent, and its exit code (128 + n for a signal) becomes ours. Uses nothing but Node.
 *
 * The child is given an IPC channel and nothing is ever sent on it. It closes when we end, even by SIGKILL: an
 * entry file that should end with us listens to `disconnect`, and calls `process.channel?.unref()` after, since
 * that listener alone would keep it running.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, linkSync, lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'

import { buildIfStale, isStale } from './build.mjs'
import { findNode } from './find-node.mjs'
import { thisPlatform } from './uws-binding.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const modules = join(root, 'node_modules')
const installLock = join(root, 'node_modules.lock')
/** An installation never takes longer. */
const installMs = 30 * 60_000
const signals = ['SIGTERM', 'SIGINT', 'SIGHUP']
const tsx = join(modules, 'tsx', 'dist', 'loader.mjs')
const vitest = join(modules, 'vitest', 'vitest.mjs')

const [target, ...args] = process.argv.slice(2)
if (target === undefined) fail('usage: node scripts/run.mjs FILE [args...] or --vitest [args...]')
const platform = thisPlatform()
const node = findNode(platform, message => console.error(`cuewire: ${message}`)) ?? process.exit(1)
if (node.path !== process.execPath) {
  // All that follows may use what only the other Node has.
  run([fileURLToPath(import.meta.url), target, ...args])
  await new Promise(() => {})
}
const nodeMajor = Number.parseInt(node.version, 10)
const isProgram = /^(\.\/)?(src|workers)\//.test(target)
// An image holds the build without sources, and only the packages that the build loads.
const hasSources = existsSync(join(root, 'src'))
// The embedded Postgres that `npm start` may need is one of the packages for development, as is the compiler.
const withDevelopment = hasSources && (!isProgram || /\bsrc\/main\.ts$/.test(target) || isStale())
const missing = whatIsMissing()
if (missing !== undefined) await install(missing)
// Tests see to it themselves, whoever starts them.
if (target !== '--vitest') {
  await buildIfStale().catch(error => fail(`the build failed: ${error.message}`))
}
run(nodeArguments())

/** What follows `node` on the command line. */
function nodeArguments() {
  if (target === '--vitest') return [vitest, 'run', ...args]
  if (!isProgram) return ['--import', pathToFileURL(tsx).href, resolve(root, target), ...args]
  return ['--enable-source-maps', join(root, 'dist', target.replace(/\.ts$/, '.js')), ...args]
}

/** Why the packages have to be installed, or undefined. */
function whatIsMissing() {
  if (withDevelopment && (!existsSync(tsx) || !existsSync(vitest))) return 'packages are missing'
  if (withDevelopment && !isPatched()) return 'packages lack their patches'
  if (read(join(modules, '.cuewire-lock')) === stamp()) return undefined
  const wanted = packagesIn(join(root, 'package-lock.json'))
  // npm's own record of what it put there.
  const installed = packagesIn(join(modules, '.package-lock.json'))
  const differs = ([path, wish]) =>
    path !== '' &&
    !wish.link &&
    (withDevelopment || !(wish.dev || wish.devOptional)) &&
    (!wish.optional || fitsHere(wish)) &&
    installed[path]?.version !== wish.version
  const differing = Object.entries(wanted).filter(differs)
  if (differing.length === 0) return undefined
  return differing.every(([, { optional }]) => optional)
    ? `the packages were installed for another platform or Node than ${node.version}`
    : 'packages do not match package-lock.json'
}

/** Whether the newest form of our patch was applied; npm leaves that out where it ignores scripts. */
function isPatched() {
  const mark = /cuewirePatch: \d+/
  const [wanted] = mark.exec(read(patchFile())) ?? []
  return wanted === undefined || read(join(modules, 'postgres/src/index.js')).includes(wanted)
}

function patchFile() {
  const { version } = packagesIn(join(root, 'package-lock.json'))['node_modules/postgres'] ?? {}
  return join(root, 'patches', `postgres+${version}.patch`)
}

/**
 * Whether an optional package is the binary for this platform and Node version. Optional packages that name no
 * platform are what binaries for other platforms depend on, and npm leaves them out with these.
 */
function fitsHere({ os, cpu, libc, engines }) {
  if (os === undefined || cpu === undefined) return false
  return (
    allows(os, process.platform) &&
    allows(cpu, process.arch) &&
    (process.platform !== 'linux' || allows(libc, platform.glibc === '' ? 'musl' : 'glibc')) &&
    allowsNode(engines?.node ?? '')
  )
}

function allows(list, value) {
  if (list === undefined) return true
  const names = [list].flat()
  return !names.includes(`!${value}`) && (names.includes(value) || names.every(name => name.startsWith('!')))
}

/** Understands `>=20.0.0 <21.0.0`, which is how binaries for one Node version are marked, and lets the rest pass. */
function allowsNode(range) {
  const [, from, below] = /^>=\s*(\d+)\.\S+ <\s*(\d+)\.0\.0$/.exec(range) ?? []
  return from === undefined || (nodeMajor >= Number(from) && nodeMajor < Number(below))
}

/** Runs `npm ci`, or waits for the one that another process runs here. */
async function install(reason) {
  if (isLink(modules)) {
    // npm would empty the folder the link leads to, which others work with.
    fail(`${reason}, and node_modules is a link: run npm ci where it leads`)
  }
  while (!(await takeInstallLock())) {
    console.error(`cuewire: ${reason}; waiting for the npm ci that runs`)
    while (installer() !== undefined) await sleep(200)
    if (whatIsMissing() === undefined) return
  }
  console.error(`cuewire: ${reason}; running npm ci`)
  const npm = process.env.npm_execpath
  const isNpm = npm !== undefined && basename(npm) === 'npm-cli.js'
  const words = ['ci', '--no-audit', '--no-fund', ...(withDevelopment ? ['--include=dev'] : [])]
  const [program, ...rest] = isNpm ? [node.path, npm, ...words] : ['npm', ...words]
  const child = spawn(program, rest, { cwd: root, stdio: 'inherit', env: node.env })
  let told
  const passOn = signal => {
    told = signal
    child.kill(signal)
  }
  for (const name of signals) process.on(name, passOn)
  child.once('error', error => fail(`cannot run npm: ${error.message}`))
  const [code, signal] = await once(child, 'exit')
  for (const name of signals) process.off(name, passOn)
  const ending = told ?? signal
  if (ending) process.exit(128 + constants.signals[ending])
  if (code !== 0) fail('npm ci failed; see above')
  if (withDevelopment && !isPatched()) patch()
  try {
    writeFileSync(join(modules, '.cuewire-lock'), stamp())
  } catch {
    // Only a shortcut for the next start.
  }
  rmSync(installLock, { force: true })
}

/** Does what npm leaves out where it ignores scripts. */
function patch() {
  const program = join(modules, 'patch-package/index.js')
  const { status } = spawnSync(node.path, [program, '--error-on-fail'], { cwd: root, stdio: 'inherit' })
  if (status !== 0) fail('the packages could not be patched; see above')
}

/** Whether this process may install now. The lock is given back when the process ends. */
async function takeInstallLock() {
  if (installer() !== undefined) return false
  const written = `${installLock}.${process.pid}`
  try {
    rmSync(installLock, { force: true })
    writeFileSync(written, String(process.pid))
    linkSync(written, installLock)
    // Somebody else may have found the same old lock, and removed ours for it.
    await sleep(50)
    if (installer() !== process.pid) return false
    process.once('exit', () => rmSync(installLock, { force: true }))
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    return fail(
      `packages have to be installed, and ${root} cannot be written (${error.code}): run npm start once as its owner`
    )
  } finally {
    rmSync(written, { force: true })
  }
}

/** The process that holds the lock, unless it has ended. An old lock is void: another process may have its number by now. */
function installer() {
  const pid = Number(read(installLock))
  const { mtimeMs = 0 } = lstatSync(installLock, { throwIfNoEntry: false }) ?? {}
  if (!(pid > 0) || Date.now() - mtimeMs > installMs) return undefined
  try {
    process.kill(pid, 0)
    return pid
  } catch (error) {
    return error.code === 'EPERM' ? pid : undefined
  }
}

/** What the installed packages depend on: the lock file, the platform and the Node version. */
function stamp() {
  const hash = createHash('sha256').update(read(join(root, 'package-lock.json')))
  return `${hash.digest('hex')} ${process.platform} ${process.arch} ${nodeMajor}\n`
}

function run(words) {
  // In a process group of its own: Ctrl-C reaches a whole group, and npm passes the signal on as well, so without
  // this the child would see one key press two or three times and take it for impatience.
  const stdio = ['inherit', 'inherit', 'inherit', 'ipc']
  // Look-ups of names occupy threads for as long as a name server is silent (`src/outbound/guard.ts`).
  const env = { UV_THREADPOOL_SIZE: '16', ...node.env }
  const child = spawn(node.path, words, { cwd: root, stdio, env, detached: true })
  const lastSent = new Map()
  for (const signal of signals) {
    process.on(signal, () => {
      const now = performance.now()
      if (now - (lastSent.get(signal) ?? -Infinity) < 300) return
      lastSent.set(signal, now)
      child.kill(signal)
    })
  }
  // Killed outright, npm tells nobody; a shell that starts us by hand may well end before us.
  const npmPid = process.env.npm_lifecycle_event === undefined ? undefined : process.ppid
  const watch = setInterval(() => {
    if (npmPid === undefined || process.ppid === npmPid) return
    clearInterval(watch)
    child.kill('SIGTERM')
  }, 500)
  child.once('error', error => fail(`cannot start: ${error.message}`))
  child.once('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code))
}

function isLink(path) {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
}

function packagesIn(file) {
  try {
    return JSON.parse(read(file)).packages ?? {}
  } catch {
    return {}
  }
}

function read(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function fail(message) {
  console.error(`cuewire: ${message}`)
  process.exit(1)
}
