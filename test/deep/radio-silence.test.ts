import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'

import { describe, expect } from 'vitest'

import { findFreePort } from '../../src/platform/process/ports.ts'
import { test } from '../support/fixtures.ts'
import { ffmpeg } from '../support/foreign-programs.ts'
import { startServer } from '../support/program.ts'
import { goLive } from '../support/radio-people.ts'
import { openRadio, whyNoRadio } from '../support/radio.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { sized } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'
import { startWorkers } from '../support/worker-process.ts'

/** How long Cuewire is away. */
const awayMs = sized({ quick: 45_000, deep: 45_000, soak: 600_000 })
/** How long the recording goes on after that. */
const afterMs = sized({ quick: 20_000, deep: 20_000, soak: 240_000 })
const soon = { deadlineMs: 30_000 }

/** A listener that writes what it hears to a file, and is never reconnected. */
async function record(url: string, file: string) {
  const leaving = new AbortController()
  const response = await fetch(url, { signal: leaving.signal })
  if (!response.ok || !response.body) throw new Error(`${url} was answered with ${response.status}`)
  const output = createWriteStream(file)
  let isConnected = true
  let bytes = 0
  const read = async (chunks: AsyncIterable<Uint8Array>) => {
    for await (const chunk of chunks) {
      bytes += chunk.length
      output.write(chunk)
    }
  }
  const reading = read(response.body)
    .catch(() => {})
    .finally(() => (isConnected = false))
  return {
    isConnected: () => isConnected,
    bytes: () => bytes,
    async stop() {
      leaving.abort()
      await reading
      output.end()
      await once(output, 'close')
    }
  }
}

interface Silence {
  /** Seconds since the begin of the recording. */
  readonly at: number
  readonly seconds: number
}

/** All silences of at least 0.2 s in a file, and the length of the file in seconds. */
async function findSilences(file: string): Promise<{ silences: readonly Silence[]; seconds: number }> {
  const filter = 'silencedetect=noise=-50dB:duration=0.2'
  const { stderr } = await promisify(execFile)(
    ffmpeg,
    ['-nostdin', '-i', file, '-af', filter, '-f', 'null', '-'],
    { maxBuffer: 2 ** 26 }
  )
  const [, minutes = '0', seconds = '0'] = [...stderr.matchAll(/time=\d+:(\d+):([\d.]+)/g)].at(-1) ?? []
  return {
    silences: [...stderr.matchAll(/silence_end: ([\d.]+) \| silence_duration: ([\d.]+)/g)].map(
      ([, end, length]) => ({ at: Number(end) - Number(length), seconds: Number(length) })
    ),
    seconds: 60 * Number(minutes) + Number(seconds)
  }
}

describe.skipIf(whyNoRadio() !== null)('a listener that stays connected', () => {
  test(
    'hears no silence while Cuewire is away, Liquidsoap restarts and streamers take over',
    { timeout: awayMs + afterMs + 400_000 },
    async ({ databaseUrl, redisUrl, sql }) => {
      await using folder = await openTempFolder()
      const variables = { PORT: String(await findFreePort()) }
      const serve = () => startServer(databaseUrl, redisUrl, folder.path, variables)
      const work = () => startWorkers(databaseUrl, redisUrl, { DATA_DIR: folder.path })
      using first = await serve()
      const firstWorkers = work()
      const { ask, baseUrl } = first
      const program = { ask, baseUrl, sql, dataDir: folder.path }
      await using radio = await openRadio(program, { melodySeconds: 12, station: { enable_streamers: true } })
      await radio.standby.start()
      for (const user of ['wren', 'lark']) {
        const body = { streamer_username: user, streamer_password: `pw ${user}`, display_name: `DJ ${user}` }
        expect((await ask('POST', `/api/station/${radio.stationId}/streamers`, { body })).status).toBe(200)
      }
      const isLive = async (name: string) => {
        const { body } = await ask('GET', `/api/nowplaying/${radio.stationId}`)
        return body.live.streamer_name === name
      }
      const file = join(folder.path, 'heard.mp3')
      const listener = await record(radio.mountUrl(), file)
      const beginMs = performance.now()
      const steps: string[] = []
      const note = (step: string) =>
        steps.push(`${step} at ${((performance.now() - beginMs) / 1000).toFixed(1)}`)
      await pause(10_000)

      // A hand-over, with half a second between the streamers.
      note('first streamer')
      await using wren = goLive(radio, 'wren', 'pw wren')
      await waitFor(() => isLive('DJ wren'), { ...soon, what: 'the first streamer' })
      await pause(5_000)
      note('first streamer leaves')
      await wren.leave()
      await pause(500)
      note('second streamer')
      await using lark = goLive(radio, 'lark', 'pw lark', 880)
      await waitFor(() => isLive('DJ lark'), { ...soon, what: 'the second streamer' })
      await pause(5_000)
      note('second streamer leaves')
      await lark.leave()
      await waitFor(() => isLive(''), { ...soon, what: 'the end of the show' })
      await pause(8_000)

      note('Liquidsoap killed')
      await radio.liquidsoap.kill()
      await pause(5_000)
      note('Liquidsoap started')
      await radio.liquidsoap.start()
      await waitFor(async () => (await radio.mounts()).some(({ path }) => path === '/radio.mp3'), {
        ...soon,
        what: 'the mount'
      })
      await pause(10_000)

      note('Cuewire killed')
      first.process.kill('SIGKILL')
      firstWorkers.kill('SIGKILL')
      await pause(awayMs)
      note('Cuewire started')
      using second = await serve()
      const secondWorkers = work()
      await pause(afterMs)
      expect(second.process.exitCode).toBeNull()

      expect(listener.isConnected()).toBe(true)
      await listener.stop()
      secondWorkers.kill('SIGKILL')
      const { silences, seconds } = await findSilences(file)
      const found = silences.map(silence => `${silence.seconds.toFixed(2)} s at ${silence.at.toFixed(1)}`)
      process.stdout.write(
        `heard ${seconds} s (${steps.join(', ')}); silences: ${found.join(', ') || 'none'}\n`
      )
      expect(seconds).toBeGreaterThan(awayMs / 1_000 + 50)
      expect(silences.filter(silence => silence.seconds > 0.5)).toEqual([])

      // The listeners of an Icecast that dies have to connect again.
      await radio.icecast.kill()
      await radio.icecast.start()
      const isBack = async () => (await radio.mounts()).some(({ path }) => path === '/radio.mp3')
      await waitFor(isBack, { ...soon, what: 'the mount after the restart of Icecast' })
      const again = await record(radio.mountUrl(), join(folder.path, 'again.mp3'))
      await waitFor(() => again.bytes() > 100_000, { ...soon, what: 'sound' })
      await again.stop()
    }
  )
})
