import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { findFreePort } from '../../src/runtime/ports.ts'
import { icecast, liquidsoap, whyWithout } from './foreign-programs.ts'
import { adminKey, type Answer, type RunningProgram } from './program.ts'
import { openTempFolder } from './temp-folder.ts'
import { waitFor } from './wait.ts'

/**
 * Why no real radio can be had here, printed as well; null where one can. On CI there is none: it would be a
 * test of that machine's sense of time.
 */
export function whyNoRadio(): string | null {
  if (process.env['CI']) {
    process.stdout.write('skipped: CI runs no real radio\n')
    return 'CI runs no real radio'
  }
  return whyWithout('icecast') ?? whyWithout('liquidsoap') ?? whyWithout('ffmpeg')
}

/** Icecast or Liquidsoap. Each call ends when it is done; one that is running is not started again. */
export interface RadioProgram {
  /** Icecast: where it listens. Liquidsoap: where streamers connect. */
  readonly port: number
  readonly start: () => Promise<void>
  /** By SIGTERM. */
  readonly stop: () => Promise<void>
  readonly kill: () => Promise<void>
  /** What it has written since the radio was opened. */
  readonly log: () => string
}

export interface Radio extends AsyncDisposable {
  readonly stationId: number
  /** What scripts/radio-setup.mjs wrote: station.liq, liquidsoap.env, icecast.xml, secrets.json. */
  readonly folder: string
  readonly icecast: RadioProgram
  readonly liquidsoap: RadioProgram
  /** Of Icecast's user `admin`. */
  readonly adminPassword: string
  readonly mountUrl: (path?: string) => string
  /** What Icecast says of its mounts now. */
  readonly mounts: () => Promise<readonly ShownMount[]>
}

/** A mount by its path, as status-json.xsl tells of it. */
export interface ShownMount {
  readonly path: string
  readonly artist: string
  readonly title: string
  readonly listeners: number
}

export interface RadioOptions {
  /** Of the station, which is made unless there is one. */
  readonly shortName?: string
  /** Its settings, before the script is rendered. */
  readonly station?: object
  readonly melodySeconds?: number
  /**
   * More variables for Liquidsoap: `CUEWIRE_MEDIA`, another `CUEWIRE_URL`, a wrong `ICECAST_SOURCE_PASSWORD`.
   */
  readonly variables?: Readonly<Record<string, string>>
}

const setup = fileURLToPath(new URL('../../scripts/radio-setup.mjs', import.meta.url))
const endMs = 10_000

/**
 * Makes a station with ten melodies of `melodySeconds` (8) seconds and starts real Icecast and Liquidsoap for
 * it, with the files that an operator gets. Crossfades last a second unless the settings say otherwise.
 */
export async function openRadio(
  program: Pick<RunningProgram, 'baseUrl' | 'dataDir' | 'ask'>,
  { shortName = 'radio', station = {}, melodySeconds = 8, variables = {} }: RadioOptions = {}
): Promise<Radio> {
  const temp = await openTempFolder()
  const [port, harborPort] = [await findFreePort(), await findFreePort()]
  const made = await program.ask('POST', '/api/admin/stations', {
    body: { name: shortName, short_name: shortName, crossfade: 1, ...station }
  })
  const stationId: number = made.body.id
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
  const [settings, secrets] = await Promise.all(
    ['liquidsoap.env', 'secrets.json'].map(name => readFile(inFolder(name), 'utf8'))
  )
  const { adminPassword }: Answer = JSON.parse(secrets ?? '')
  const baseUrl = `http://127.0.0.1:${port}`
  const status = () => fetch(`${baseUrl}/status-json.xsl`, { signal: AbortSignal.timeout(1_000) })

  // It refuses to run as root, and would listen to the world.
  const rules = ['settings.init.allow_root.set(true)', 'settings.harbor.bind_addrs.set(["127.0.0.1"])']
  const server = programOf(port, {
    words: [icecast, '-c', inFolder('icecast.xml')],
    env: { PATH },
    isUp: async () => (await status()).ok
  })
  const player = programOf(harborPort, {
    words: [liquidsoap, rules.join(' '), inFolder('station.liq')],
    env: { PATH, ...variablesOf(settings ?? ''), HARBOR_PORT: String(harborPort), ...variables },
    // Where Icecast is away, it has tried.
    isUp: log => /Connection setup was successful|Will try again/.test(log)
  })
  const radio: Radio = {
    stationId,
    folder: temp.path,
    icecast: server,
    liquidsoap: player,
    adminPassword,
    mountUrl: (path = '/radio.mp3') => baseUrl + path,
    mounts: async () => shownMounts(await (await status()).json()),
    async [Symbol.asyncDispose]() {
      await Promise.all([player.kill(), server.kill()])
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

interface Started {
  readonly words: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** Of what it has written since this start. */
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
      await waitFor(isDone, { deadlineMs: 30_000, what: command })
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

/** One mount is an object there, several are a list, none is nothing. */
function shownMounts({ icestats }: Answer): ShownMount[] {
  return [icestats.source ?? []].flat().map((source: Answer) => ({
    path: new URL(source.listenurl).pathname,
    artist: String(source.artist ?? ''),
    title: String(source.title ?? ''),
    listeners: Number(source.listeners)
  }))
}
