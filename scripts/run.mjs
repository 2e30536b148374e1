/**
 * Runs a program, a TypeScript file (`bench`, `test`) or the tests, in a clone in any state:
 *
 *     node scripts/run.mjs FILE [args...]
 *     node scripts/run.mjs --vitest [args...]
 *
 * Installs the npm packages if they are missing or do not match package-lock.json, and builds `dist` if it is
 * stale; programs (`src`, `workers`) run from there. The child inherits stdio, runs in the project folder,
 * receives SIGTERM, SIGINT and SIGHUP once each time they are sent, and its exit code (128 + n for a signal)
 * is returned. Uses only Node.
 *
 * The child has an IPC channel without messages. It closes when this process exits, even by SIGKILL: an entry
 * file that must end with this process listens to `disconnect` and calls `process.channel?.unref()`, since
 * the listener alone would keep it running.
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
/** An older lock is ignored. */
const installMs = 30 * 60_000
/** The patched packages, with the file that has the mark of the patch. */
const patched = { postgres: 'src/index.js', 'csv-parse': 'lib/api/index.js', busboy: 'lib/index.js' }
const signals = ['SIGTERM', 'SIGINT', 'SIGHUP']
const tsx = join(modules, 'tsx', 'dist', 'loader.mjs')
const vitest = join(modules, 'vitest', 'vitest.mjs')

const [target, ...args] = process.argv.slice(2)
if (target === undefined) fail('usage: node scripts/run.mjs FILE [args...] or --vitest [args...]')
const platform = thisPlatform()
const node = findNode(platform, message => console.error(`cuewire: ${message}`)) ?? process.exit(1)
if (node.path !== process.execPath) {
  // The rest runs in the other Node.
  run([fileURLToPath(import.meta.url), target, ...args])
  await new Promise(() => {})
}
const nodeMajor = Number.parseInt(node.version, 10)
const isProgram = /^(\.\/)?(src|workers)\//.test(target)
// A container image has no sources, and only packages that are loaded at run time.
const hasSources = existsSync(join(root, 'src'))
// The embedded Postgres of `npm start` and the compiler are devDependencies.
const withDevelopment = hasSources && (!isProgram || /\bsrc\/main\.ts$/.test(target) || isStale())
const missing = findInstallReason()
if (missing !== undefined) await install(missing)
// Tests build it themselves.
if (target !== '--vitest') {
  await buildIfStale().catch(error => fail(`the build failed: ${error.message}`))
}
run(nodeArguments())

/** The arguments of `node`. */
function nodeArguments() {
  if (target === '--vitest') return [vitest, 'run', ...args]
  if (!isProgram) return ['--import', pathToFileURL(tsx).href, resolve(root, target), ...args]
  return ['--enable-source-maps', join(root, 'dist', target.replace(/\.ts$/, '.js')), ...args]
}

/** Returns why packages must be installed; undefined if they need not be. */
function findInstallReason() {
  if (withDevelopment && (!existsSync(tsx) || !existsSync(vitest))) return 'packages are missing'
  if (withDevelopment && !isPatched()) return 'packages lack their patches'
  if (read(join(modules, '.cuewire-lock')) === stamp()) return undefined
  const wanted = packagesIn(join(root, 'package-lock.json'))
  // Written by npm.
  const installed = packagesIn(join(modules, '.package-lock.json'))
  const differs = ([path, entry]) =>
    path !== '' &&
    !entry.link &&
    (withDevelopment || !(entry.dev || entry.devOptional)) &&
    (!entry.optional || isForPlatform(entry)) &&
    installed[path]?.version !== entry.version
  const differing = Object.entries(wanted).filter(differs)
  if (differing.length === 0) return undefined
  return differing.every(([, { optional }]) => optional)
    ? `the packages were installed for another platform or Node than ${node.version}`
    : 'packages do not match package-lock.json'
}

/** Whether the current patches are applied. npm skips them if scripts are disabled. */
function isPatched() {
  const mark = /cuewirePatch: \d+/
  return Object.entries(patched).every(([name, file]) => {
    const [wanted] = mark.exec(read(patchFile(name))) ?? []
    return wanted === undefined || read(join(modules, name, file)).includes(wanted)
  })
}

function patchFile(name) {
  const { version } = packagesIn(join(root, 'package-lock.json'))[`node_modules/${name}`] ?? {}
  return join(root, 'patches', `${name}+${version}.patch`)
}

/**
 * Whether an optional package is for this platform and Node version. Those without a platform are
 * dependencies of binaries for other platforms, which npm skips.
 */
function isForPlatform({ os, cpu, libc, engines }) {
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

/**
 * Checks ranges like `>=20.0.0 <21.0.0`, used by binaries for one Node version; other ranges are accepted.
 */
function allowsNode(range) {
  const [, from, below] = /^>=\s*(\d+)\.\S+ <\s*(\d+)\.0\.0$/.exec(range) ?? []
  return from === undefined || (nodeMajor >= Number(from) && nodeMajor < Number(below))
}

/** Runs `npm ci`, or waits for that of another process. */
async function install(reason) {
  if (isLink(modules)) {
    // npm would delete the content of the linked folder.
    fail(`${reason}, and node_modules is a link: run npm ci where it leads`)
  }
  while (!(await acquireInstallLock())) {
    console.error(`cuewire: ${reason}; waiting for the npm ci that runs`)
    while (lockOwner() !== undefined) await sleep(200)
    if (findInstallReason() === undefined) return
  }
  console.error(`cuewire: ${reason}; running npm ci`)
  const npm = process.env.npm_execpath
  const isNpm = npm !== undefined && basename(npm) === 'npm-cli.js'
  const words = ['ci', '--no-audit', '--no-fund', ...(withDevelopment ? ['--include=dev'] : [])]
  const [program, ...rest] = isNpm ? [node.path, npm, ...words] : ['npm', ...words]
  const child = spawn(program, rest, { cwd: root, stdio: 'inherit', env: node.env })
  let received
  const forward = signal => {
    received = signal
    child.kill(signal)
  }
  for (const name of signals) process.on(name, forward)
  child.once('error', error => fail(`cannot run npm: ${error.message}`))
  const [code, signal] = await once(child, 'exit')
  for (const name of signals) process.off(name, forward)
  const ending = received ?? signal
  if (ending) process.exit(128 + constants.signals[ending])
  if (code !== 0) fail('npm ci failed; see above')
  if (withDevelopment && !isPatched()) patch()
  try {
    writeFileSync(join(modules, '.cuewire-lock'), stamp())
  } catch {
    // Only makes the next start faster.
  }
  rmSync(installLock, { force: true })
}

/** Applies the patches that npm skips if scripts are disabled. */
function patch() {
  const program = join(modules, 'patch-package/index.js')
  const { status } = spawnSync(node.path, [program, '--error-on-fail'], { cwd: root, stdio: 'inherit' })
  if (status !== 0) fail('the packages could not be patched; see above')
}

/** Returns whether the lock was acquired. It is released when the process exits. */
async function acquireInstallLock() {
  if (lockOwner() !== undefined) return false
  const written = `${installLock}.${process.pid}`
  try {
    rmSync(installLock, { force: true })
    writeFileSync(written, String(process.pid))
    linkSync(written, installLock)
    // Another process may have removed this lock instead of an old one.
    await sleep(50)
    if (lockOwner() !== process.pid) return false
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

/** The pid of the running process that holds the lock. An old lock is ignored, because pids are reused. */
function lockOwner() {
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

/** Identifies the lock file, platform and Node version of the installed packages. */
function stamp() {
  const hash = createHash('sha256').update(read(join(root, 'package-lock.json')))
  return `${hash.digest('hex')} ${process.platform} ${process.arch} ${nodeMajor}\n`
}

function run(nodeArgs) {
  // In its own process group: Ctrl-C signals a whole group, and npm forwards the signal as well. A second
  // signal would end the child at once.
  const stdio = ['inherit', 'inherit', 'inherit', 'ipc']
  // DNS lookups occupy threads until the name server answers (`src/platform/outbound/guard.ts`).
  const env = { UV_THREADPOOL_SIZE: '16', ...node.env }
  const child = spawn(node.path, nodeArgs, { cwd: root, stdio, env, detached: true })
  const lastSent = new Map()
  for (const signal of signals) {
    process.on(signal, () => {
      const now = performance.now()
      if (now - (lastSent.get(signal) ?? -Infinity) < 300) return
      lastSent.set(signal, now)
      child.kill(signal)
    })
  }
  // Stops the child when npm was killed. Another parent, such as a shell, may exit before this process.
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
