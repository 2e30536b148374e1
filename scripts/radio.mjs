/**
 * Runs a radio beside `npm start`: `npm run radio`. Sets up and starts Icecast, Liquidsoap and its standby for a
 * station until Ctrl-C, and prints where to listen. Uses the Cuewire that runs on this machine, or that of `DATA_DIR`
 * or `CUEWIRE_URL`; the other variables are those of `radio-setup.mjs`, and:
 *
 *     ICECAST LIQUIDSOAP        icecast2, icecast; liquidsoap   the programs
 *     ICECAST_PORT HARBOR_PORT  8000 8005                       or the next free ports
 *
 * The output of the programs is in RADIO_DIR: icecast.log, liquidsoap.log, standby.log.
 *
 * Ends with 78 if a retry cannot help: a missing program, another version of Liquidsoap, a script that it refuses, an
 * invalid variable. Otherwise with 1.
 */
import { spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { delimiter, dirname, join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { chooseProgram, isAlive } from './running-programs.mjs'

const scripts = dirname(fileURLToPath(import.meta.url))
const env = (name, fallback) => process.env[name] || fallback
const startedAt = performance.now()
const findMs = 60_000
const soundMs = 60_000
const stopMs = 10_000
/** Delays before a program that ended is started again. */
const firstBackoffMs = 1_000
const maxBackoffMs = 30_000
/** The versions that assets/radio/station.liq is written for. */
const firstVersion = [2, 1]
const lastVersion = [2, 4]
/** EX_CONFIG of sysexits.h. The unit cuewire-radio@ does not start again after it. */
const cannotRun = 78
const isRoot = process.getuid?.() === 0

/** An error that a retry cannot heal. */
class PermanentError extends Error {}

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => stopping.abort())

async function main() {
  const firstPorts = { icecast: readPort('ICECAST_PORT', 8_000), harbor: readPort('HARBOR_PORT', 8_005) }
  const icecast = findProgram('ICECAST', ['icecast2', 'icecast'])
  const liquidsoap = findProgram('LIQUIDSOAP', ['liquidsoap'])
  checkVersion(liquidsoap)
  const { url, dataDir } = await waitForCuewire()
  log(`using the Cuewire at ${url}, with DATA_DIR ${dataDir}`)
  const folder = resolve(env('RADIO_DIR', join(dataDir, 'radio')))
  lockFolder(folder)
  await stopOrphans(folder)
  const port = await findFreePort(firstPorts.icecast)
  const harborPort = await findFreePort(firstPorts.harbor, [port])
  const listenUrl = env('RADIO_LISTEN_URL', `http://localhost:${port}`)
  const settings = {
    ...process.env,
    CUEWIRE_URL: url,
    DATA_DIR: dataDir,
    RADIO_DIR: folder,
    RADIO_LISTEN_URL: listenUrl,
    ICECAST_PORT: String(port)
  }
  await setUp(settings)

  const variables = {
    ...process.env,
    HARBOR_PORT: String(harborPort),
    ...readVariables(join(folder, 'liquidsoap.env'))
  }
  const asRoot = isRoot ? ['settings.init.allow_root.set(true)'] : []
  const programs = [
    keepRunning('icecast', [icecast, '-c', join(folder, 'icecast.xml')], { folder, env: process.env }),
    ...['station', 'standby'].map(name => {
      const words = [liquidsoap, ...asRoot]
      const script = join(folder, `${name}.liq`)
      return keepRunning(name === 'station' ? 'liquidsoap' : name, [...words, script], {
        folder,
        env: variables,
        findFault: () => checkScript(words, script, variables)
      })
    })
  ]
  announceSound({ url, port, listenUrl, harborPort, folder })
    .catch(error => {
      if (!stopping.signal.aborted) console.error(`radio: ${error.message}`)
    })
    .finally(notifySystemd)
  try {
    await Promise.all(programs)
  } catch (error) {
    stopping.abort()
    await Promise.allSettled(programs)
    throw error
  }
}

const order = ([major, minor]) => 1_000 * major + minor

/** Throws if the scripts are not written for this version of Liquidsoap. */
function checkVersion(liquidsoap) {
  const { stdout, error } = spawnSync(liquidsoap, ['--version'], { encoding: 'utf8' })
  const found = /^Liquidsoap (\d+)\.(\d+)\S*/.exec(stdout ?? '')
  if (found === null) throw new PermanentError(`${liquidsoap} --version failed: ${error?.message ?? stdout}`)
  const version = order([Number(found[1]), Number(found[2])])
  if (version < order(firstVersion) || version > order(lastVersion))
    throw new PermanentError(
      `${found[0]} (${liquidsoap}) is not supported: install Liquidsoap ${firstVersion.join('.')} to ${lastVersion.join('.')}`
    )
}

/** Throws if Liquidsoap refuses a script: it ends at each start. */
function checkScript([command, ...args], file, variables) {
  const checked = spawnSync(command, [...args, '--check', file], { encoding: 'utf8', env: variables })
  if (checked.status === 0) return
  // The last lines say where and why; warnings come before them.
  const reason = `${checked.stdout}${checked.stderr}`
    .trim()
    .split('\n')
    .slice(-4)
    .join(' ')
    .replace(/\s+/g, ' ')
  throw new PermanentError(`Liquidsoap refuses ${file}: ${checked.error?.message ?? reason}`)
}

/** Tells systemd that the radio is on air, or could not be heard in time: the unit is active then. */
function notifySystemd() {
  if (!stopping.signal.aborted && process.env.NOTIFY_SOCKET)
    spawnSync('systemd-notify', ['--ready'], { stdio: 'inherit' })
}

/** Throws if a radio runs with this folder. Two would play different songs for one station. */
function lockFolder(folder) {
  const file = join(folder, 'radio.pid')
  const pid = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0
  if (pid > 0 && isAlive(pid))
    throw new Error(`a radio already runs with ${folder} (pid ${pid}): stop it first`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(file, String(process.pid))
  process.once('exit', () => rmSync(file, { force: true }))
}

/** The processes of the programs, by name. They outlive a `npm run radio` that is killed. */
const pids = new Map()
const pidsFile = folder => join(folder, 'programs.json')

function setPid(folder, name, pid) {
  if (pid === undefined) pids.delete(name)
  else pids.set(name, pid)
  writeFileSync(pidsFile(folder), JSON.stringify(Object.fromEntries(pids)))
}

/** Stops the programs that a radio with this folder left behind: those of its processes that use the folder. */
async function stopOrphans(folder) {
  const orphans = Object.entries(readPids(folder)).filter(([, pid]) => readCommand(pid).includes(folder))
  if (orphans.length === 0) return
  log(`stopping the ${orphans.map(([name]) => name).join(', ')} of a radio that was killed`)
  const areRunning = () => orphans.filter(([, pid]) => readCommand(pid).includes(folder))
  for (const [, pid] of orphans) kill(pid, 'SIGTERM')
  for (const endsAt = performance.now() + stopMs; areRunning().length > 0; await pause(100))
    if (performance.now() > endsAt) for (const [, pid] of areRunning()) kill(pid, 'SIGKILL')
}

function readPids(folder) {
  try {
    return JSON.parse(readFileSync(pidsFile(folder), 'utf8'))
  } catch {
    return {}
  }
}

/** The command line of a process; empty if it has ended. */
function readCommand(pid) {
  const { status, stdout } = spawnSync('ps', ['-ww', '-o', 'stat=,args=', '-p', String(pid)], {
    encoding: 'utf8'
  })
  return status === 0 && !stdout.trimStart().startsWith('Z') ? stdout : ''
}

function kill(pid, signal) {
  try {
    process.kill(pid, signal)
  } catch {
    // It has just ended.
  }
}

function readPort(variable, fallback) {
  const text = env(variable, String(fallback))
  const port = Number(text)
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new PermanentError(`${variable} must be a number from 1 to 65535 (got "${text}")`)
  return port
}

/** Returns the path of a program. Ends with the command that installs it if it is missing. */
function findProgram(variable, names) {
  const folders = env('PATH', '').split(delimiter)
  const wanted = process.env[variable] ? [process.env[variable]] : names
  for (const name of wanted)
    for (const path of name.includes('/') ? [name] : folders.map(folder => join(folder, name)))
      if (existsSync(path)) return path
  throw new PermanentError(
    `${wanted[0]} is not installed. On Debian: sudo apt-get install icecast2 liquidsoap`
  )
}

/** Finds the program to use, which may have been started at the same time. */
async function waitForCuewire() {
  const isGiven = process.env.CUEWIRE_URL && process.env.DATA_DIR
  if (isGiven) return { url: process.env.CUEWIRE_URL, dataDir: resolve(process.env.DATA_DIR) }
  for (let isLogged = false; ; isLogged = true) {
    const program = await chooseProgram()
    if (program !== null) return program
    if (performance.now() - startedAt > findMs)
      fail('no Cuewire runs on this machine: start it with `npm start`, or set CUEWIRE_URL and DATA_DIR')
    if (!isLogged) log('waiting for a Cuewire: start it with `npm start` in another terminal')
    await pause(500, undefined, { signal: stopping.signal })
  }
}

async function setUp(settings) {
  const child = spawn(process.execPath, [join(scripts, 'radio-setup.mjs')], {
    env: settings,
    stdio: 'inherit',
    signal: stopping.signal
  })
  const code = await new Promise((end, reject) => child.once('error', reject).once('exit', end))
  if (code !== 0) fail('the setup failed')
}

/** Lines of the form `NAME='value'`. */
function readVariables(file) {
  const found = readFileSync(file, 'utf8').matchAll(/^(\w+)='(.*)'$/gm)
  return Object.fromEntries([...found].map(([, name, value]) => [name, value]))
}

/**
 * Runs a program, and starts it again when it ends. Resolves when it was stopped. `findFault` is called when it has
 * ended soon, and throws if it always will.
 */
async function keepRunning(name, [command, ...args], { folder, env: variables, findFault }) {
  let isFirst = true
  for (
    let backoffMs = firstBackoffMs;
    !stopping.signal.aborted;
    backoffMs = Math.min(2 * backoffMs, maxBackoffMs)
  ) {
    const output = openSync(join(folder, `${name}.log`), isFirst ? 'w' : 'a', 0o600)
    isFirst = false
    const ranFrom = performance.now()
    const child = spawn(command, args, { env: variables, stdio: ['ignore', output, output] })
    closeSync(output)
    setPid(folder, name, child.pid)
    const stop = () => {
      child.kill('SIGTERM')
      setTimeout(() => child.kill('SIGKILL'), stopMs).unref()
    }
    stopping.signal.addEventListener('abort', stop, { once: true })
    const reason = await new Promise(end =>
      child.once('error', end).once('exit', (code, signal) => end(signal ?? `code ${code}`))
    )
    stopping.signal.removeEventListener('abort', stop)
    setPid(folder, name, undefined)
    if (stopping.signal.aborted) return
    if (performance.now() - ranFrom > maxBackoffMs) backoffMs = firstBackoffMs
    else findFault?.()
    log(
      `${name} ended (${reason}); starting it again in ${backoffMs / 1_000} s. See ${join(folder, `${name}.log`)}`
    )
    await pause(backoffMs, undefined, { signal: stopping.signal }).catch(() => {})
  }
}

/** Prints where to listen once the first mount has sound. */
async function announceSound({ url, port, listenUrl, harborPort, folder }) {
  const station = env('RADIO_STATION', 'demo')
  for (
    const endsAt = performance.now() + soundMs;
    ;
    await pause(250, undefined, { signal: stopping.signal })
  ) {
    const mount = await findMount(port)
    if (mount !== null) {
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
      console.log(`
On air after ${seconds} s.

  listen        ${url.replace('127.0.0.1', 'localhost')}/public/${station}
  stream        ${listenUrl}${mount}
  go live       port ${harborPort}, mount /live, with the name and password of a streamer

  Ctrl-C stops Icecast and Liquidsoap.
`)
      return
    }
    if (performance.now() > endsAt)
      throw new Error(`no sound after ${soundMs / 1_000} s: see ${join(folder, 'liquidsoap.log')}`)
  }
}

async function findMount(port) {
  const limit = AbortSignal.timeout(2_000)
  const response = await fetch(`http://127.0.0.1:${port}/status-json.xsl`, { signal: limit }).catch(
    () => null
  )
  const { icestats } = (await response?.json().catch(() => null)) ?? {}
  const paths = [icestats?.source ?? []].flat().map(({ listenurl: address }) => new URL(address).pathname)
  return paths.find(path => !path.startsWith('/standby/')) ?? null
}

/** Returns the port, or the next free one. */
async function findFreePort(first, taken = []) {
  for (let port = first; port < first + 100; port++)
    if (!taken.includes(port) && (await isFree(port))) return port
  throw new Error(`no port from ${first} to ${first + 99} is free`)
}

function isFree(port) {
  return new Promise(done => {
    const socket = connect({ host: '127.0.0.1', port, timeout: 1_000 })
    const end = free => {
      socket.destroy()
      done(free)
    }
    socket
      .once('connect', () => end(false))
      .once('error', () => end(true))
      .once('timeout', () => end(false))
  })
}

function log(sentence) {
  console.log(`radio: ${sentence}`)
}

function fail(sentence, code = 1) {
  console.error(`radio: ${sentence}`)
  process.exit(code)
}

try {
  await main()
} catch (error) {
  if (error instanceof PermanentError) fail(error.message, cannotRun)
  else if (!stopping.signal.aborted) fail(error.message)
}
