import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { findFreePort } from '../../src/platform/process/ports.ts'
import { icecast, liquidsoap, whyWithout } from './foreign-programs.ts'
import { adminKey, type JsonBody, type RunningProgram } from './program.ts'
import { openTempFolder } from './temp-folder.ts'
import { waitFor } from './wait.ts'

/**
 * The reason why a real radio is not available, which is printed; null if it is. It is never used on CI,
 * where tests would depend on the timing of the machine.
 */
export function whyNoRadio(): string | null {
  if (process.env['CI']) {
    process.stdout.write('skipped: CI runs no real radio\n')
    return 'CI runs no real radio'
  }
  return whyWithout('icecast') ?? whyWithout('liquidsoap') ?? whyWithout('ffmpeg')
}

/** Icecast or Liquidsoap. Calls resolve when they are done. A running program is not started again. */
interface RadioProgram {
  /** Icecast: the port for listeners. Liquidsoap: the port for streamers. */
  readonly port: number
  readonly start: () => Promise<void>
  /** Stops it by SIGTERM. */
  readonly stop: () => Promise<void>
  readonly kill: () => Promise<void>
  /** The output since the radio was opened. */
  readonly log: () => string
}

export interface Radio extends AsyncDisposable {
  readonly stationId: number
  /** The files of scripts/radio-setup.mjs: station.liq, standby.liq, liquidsoap.env, icecast.xml, secrets.json. */
  readonly folder: string
  readonly icecast: RadioProgram
  readonly liquidsoap: RadioProgram
  /** Not started with the others. Its port is not used. */
  readonly standby: RadioProgram
  /** The password of the Icecast user `admin`. */
  readonly adminPassword: string
  readonly mountUrl: (path?: string) => string
  /** The mounts in the status of Icecast. */
  readonly mounts: () => Promise<readonly ShownMount[]>
}

/** A mount by its path, from status-json.xsl. */
interface ShownMount {
  readonly path: string
  readonly artist: string
  readonly title: string
  readonly listeners: number
}

export interface RadioOptions {
  /** The short name of the station, which is created if it does not exist. */
  readonly shortName?: string
  /** The settings of the station, before the script is rendered. */
  readonly station?: object
  readonly melodySeconds?: number
  /** Adds songs before the setup, which then adds no melodies. */
  readonly addSongs?: (stationId: number) => Promise<void>
  /** A folder to which Liquidsoap also writes HLS: `live.m3u8`, with segments of two seconds. */
  readonly hlsFolder?: string
  /**
   * Additional variables of Liquidsoap: `CUEWIRE_MEDIA`, another `CUEWIRE_URL`, a wrong
   * `ICECAST_SOURCE_PASSWORD`.
   */
  readonly variables?: Readonly<Record<string, string>>
}

const setup = fileURLToPath(new URL('../../scripts/radio-setup.mjs', import.meta.url))
const endMs = 10_000

/**
 * Creates a station with ten melodies of `melodySeconds` (8) seconds and starts a real Icecast and Liquidsoap
 * for it, with the files for operators. Crossfades take a second by default.
 */
export async function openRadio(
  program: Pick<RunningProgram, 'baseUrl' | 'dataDir' | 'ask'>,
  {
    shortName = 'radio',
    station = {},
    melodySeconds = 8,
    addSongs,
    hlsFolder,
    variables = {}
  }: RadioOptions = {}
): Promise<Radio> {
  const temp = await openTempFolder()
  const [port, harborPort] = [await findFreePort(), await findFreePort()]
  const made = await program.ask('POST', '/api/admin/stations', {
    body: { name: shortName, short_name: shortName, crossfade: 1, ...station }
  })
  const stationId: number = made.body.id
  await addSongs?.(stationId)
  const { PATH } = process.env
  await promisify(execFile)(process.execPath, [setup], {
    env: {
      PATH,
      CUEWIRE_URL: program.baseUrl,
      DATA_DIR: program.dataDir,
      ADMIN_API_KEY: adminKey,
      RADIO_STATION: shortName,
      RADIO_DIR: temp.path,
      ICECAST_ADDRESS: '127.0.0.1',
      ICECAST_PORT: String(port),
      RADIO_LISTEN_URL: `http://127.0.0.1:${port}`,
      MELODY_SECONDS: String(melodySeconds)
    }
  })
  const inFolder = (name: string) => join(temp.path, name)
  if (hlsFolder !== undefined) await appendFile(inFolder('station.liq'), renderHls(hlsFolder))
  const [settings, secrets] = await Promise.all(
    ['liquidsoap.env', 'secrets.json'].map(name => readFile(inFolder(name), 'utf8'))
  )
  const { adminPassword }: JsonBody = JSON.parse(secrets ?? '')
  const baseUrl = `http://127.0.0.1:${port}`
  const status = () => fetch(`${baseUrl}/status-json.xsl`, { signal: AbortSignal.timeout(1_000) })

  // Liquidsoap refuses to run as root, and would listen on all addresses.
  const rules = ['settings.init.allow_root.set(true)', 'settings.harbor.bind_addrs.set(["127.0.0.1"])']
  const server = programOf(port, {
    words: [icecast, '-c', inFolder('icecast.xml')],
    env: { PATH },
    isUp: async () => (await status()).ok
  })
  const player = programOf(harborPort, {
    words: [liquidsoap, rules.join(' '), inFolder('station.liq')],
    env: { PATH, ...variablesOf(settings ?? ''), HARBOR_PORT: String(harborPort), ...variables },
    // If Icecast is down, Liquidsoap has tried to connect.
    isUp: log => /Connection setup was successful|Will try again/.test(log)
  })
  const standby = programOf(0, {
    words: [liquidsoap, rules.join(' '), inFolder('standby.liq')],
    env: { PATH, ...variablesOf(settings ?? ''), ...variables },
    isUp: log => log.includes('Connection setup was successful')
  })
  const radio: Radio = {
    stationId,
    folder: temp.path,
    icecast: server,
    liquidsoap: player,
    standby,
    adminPassword,
    mountUrl: (path = '/radio.mp3') => baseUrl + path,
    mounts: async () => shownMounts(await (await status()).json()),
    async [Symbol.asyncDispose]() {
      await Promise.all([player.kill(), standby.kill(), server.kill()])
      await temp[Symbol.asyncDispose]()
    }
  }
  try {
    await server.start()
    await player.start()
    await waitFor(async () => (await radio.mounts()).length > 0, { deadlineMs: 5_000, what: 'the mount' })
  } catch (error) {
    await radio[Symbol.asyncDispose]()
    throw error
  }
  return radio
}

const renderHls = (folder: string) => `
output.file.hls(
  playlist="live.m3u8", segment_duration=2., segments=5, segments_overhead=5, "${folder}",
  [("sound", %ffmpeg(format="mpegts", %audio(codec="aac", b="128k")))], titled)
`

interface Started {
  readonly words: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** Whether the program is ready; `log` is its output since this start. */
  readonly isUp: (log: string) => boolean | Promise<boolean>
}

function programOf(port: number, { words, env, isUp }: Started): RadioProgram {
  let child: ChildProcess | null = null
  let log = ''
  const isRunning = () => child !== null && child.exitCode === null && child.signalCode === null
  const end = async (signal: NodeJS.Signals) => {
    if (!child || !isRunning()) return
    const ended = once(child, 'exit', { signal: AbortSignal.timeout(endMs) })
    child.kill(signal)
    await ended
  }
  return {
    port,
    log: () => log,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    async start() {
      if (isRunning()) return
      const [command = '', ...args] = words
      const { length } = log
      const started = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
      child = started
      for (const output of [started.stdout, started.stderr])
        output.on('data', (chunk: Buffer) => (log += chunk.toString()))
      const isDone = async () => !isRunning() || isUp(log.slice(length))
      await waitFor(isDone, { deadlineMs: 60_000, what: command }).catch((error: unknown) => {
        throw new Error(`${String(error)}; its log: ${log.slice(length).slice(-4_000)}`, { cause: error })
      })
      if (!isRunning()) throw new Error(`${command} ended: ${log.slice(-2_000)}`)
    }
  }
}

/** Lines of the form `NAME='value'`. */
function variablesOf(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/^(\w+)='(.*)'$/gm)].map(([, name = '', value = '']) => [name, value])
  )
}

/** Icecast returns one mount as an object, several as a list, and omits an empty list. */
function shownMounts({ icestats }: JsonBody): ShownMount[] {
  return [icestats.source ?? []].flat().map((source: JsonBody) => ({
    path: new URL(source.listenurl).pathname,
    artist: String(source.artist ?? ''),
    title: String(source.title ?? ''),
    listeners: Number(source.listeners)
  }))
}
