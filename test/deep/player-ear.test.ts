import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import { describe, expect } from 'vitest'

import { type EarReport, prepareEar, readEar, renderTone, stableSounds, startEar } from '../support/ear.ts'
import { test } from '../support/fixtures.ts'
import { whyWithout } from '../support/foreign-programs.ts'
import type { Program } from '../support/program.ts'
import { goLive } from '../support/radio-people.ts'
import { openRadio, type Radio, whyNoRadio } from '../support/radio.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { waitFor } from '../support/wait.ts'

const songs = Array.from({ length: 12 }, (_, index) => 500 + 100 * index)
const jingle = 3_600
const news = 3_900
const streamers = { wren: 3_000, lark: 3_300 }
const songSeconds = 6

/** What the page shows while a frequency is heard. */
const shownWith = (hertz: number) => {
  const streamer = Object.entries(streamers).find(([, tone]) => tone === hertz)
  return streamer ? `DJ ${streamer[0]}|Live Broadcast` : `Now playing|Tone ${hertz}`
}

/** Adds tones to a station: a playlist of songs, and a jingle after every fourth song. */
async function addTones({ ask, dataDir }: Program, stationId: number): Promise<void> {
  const folder = join(dataDir, 'stations', String(stationId), 'media')
  await mkdir(folder, { recursive: true })
  const path = `/api/station/${stationId}`
  const addPlaylist = async (body: object, tones: readonly number[], seconds: number) => {
    const { body: playlist } = await ask('POST', `${path}/playlists`, { body })
    for (const hertz of tones) {
      await writeFile(join(folder, `${hertz}.wav`), renderTone(hertz, seconds))
      const file = { path: `${hertz}.wav`, title: `Tone ${hertz}`, length: seconds, playlists: [playlist.id] }
      expect((await ask('POST', `${path}/files`, { body: file })).status).toBe(200)
    }
  }
  await addPlaylist({ name: 'Songs', order: 'sequential' }, songs, songSeconds)
  const jingles = { name: 'Jingles', type: 'once_per_x_songs', play_per_songs: 4, is_jingle: true }
  await addPlaylist(jingles, [jingle], 3)
}

/** Adds a playlist that interrupts the song at the next full minute. */
async function addNews({ ask, dataDir }: Program, stationId: number): Promise<void> {
  const minute = (new Date(Date.now() + 60_000).getUTCMinutes() + 60) % 60
  const path = `/api/station/${stationId}`
  const { body: playlist } = await ask('POST', `${path}/playlists`, {
    body: { name: 'News', type: 'once_per_hour', play_per_hour_minute: minute, backend_options: 'interrupt' }
  })
  await writeFile(join(dataDir, 'stations', String(stationId), 'media', `${news}.wav`), renderTone(news, 5))
  const body = { path: `${news}.wav`, title: `Tone ${news}`, length: 5, playlists: [playlist.id] }
  expect((await ask('POST', `${path}/files`, { body })).status).toBe(200)
}

/**
 * How late each sound was shown, in milliseconds; negative: before it was heard. The first sounds begin before the page
 * knows its delay. Jingles are not shown, nor the low tones between two streamers.
 */
function delaysOf(report: EarReport): readonly { readonly value: string; readonly delayMs: number }[] {
  const sounds = stableSounds(report, 500).slice(2)
  const changes = sounds.filter(({ value }) => Number(value) >= 500 && value !== String(jingle))
  const delays = changes.map(({ value, atMs }) => {
    const shown = report.shown.filter(each => each.value === shownWith(Number(value)))
    const times = shown
      .map(each => each.atMs - atMs)
      .toSorted((one, other) => Math.abs(one) - Math.abs(other))
    return { value, delayMs: Math.round(times[0] ?? Infinity) }
  })
  process.stdout.write(`${delays.map(({ value, delayMs }) => `${value} Hz: ${delayMs} ms`).join(', ')}\n`)
  return delays
}

const median = (values: readonly number[]) =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN

describe.skipIf((whyNoRadio() ?? whyWithout('chromium')) !== null)('in the player page', () => {
  test(
    'what is shown is what is heard, with songs, a skip, an interruption, jingles and streamers',
    { timeout: 480_000 },
    async ({ program, openPage }) => {
      const { ask } = program
      await using radio: Radio = await openRadio(program, {
        shortName: 'ear',
        station: { crossfade_type: 'none', crossfade: 0, enable_streamers: true },
        addSongs: id => addTones(program, id)
      })
      for (const user of Object.keys(streamers)) {
        const body = { streamer_username: user, streamer_password: `pw ${user}`, display_name: `DJ ${user}` }
        expect((await ask('POST', `/api/station/${radio.stationId}/streamers`, { body })).status).toBe(200)
      }
      const page = await openPage({})
      await prepareEar(page)
      await page.goto(`${program.baseUrl}/public/ear`)
      await page.getByRole('button', { name: 'Listen' }).click()
      await startEar(page)
      await page.locator('.sound-text', { hasText: 'Listening' }).waitFor({ timeout: 20_000 })

      const heard = async () =>
        stableSounds(await readEar(page), 500).filter(({ value }) => Number(value) >= 500)
      const hear = (count: number, what: string) =>
        waitFor(async () => (await heard()).length >= count, { deadlineMs: count * 8_000 + 20_000, what })
      const hearTone = (hertz: number) =>
        waitFor(async () => (await heard()).some(({ value }) => value === String(hertz)), {
          deadlineMs: 90_000,
          what: `${hertz} Hz`
        })
      await hear(8, 'eight sounds')
      expect((await ask('POST', `/api/station/${radio.stationId}/backend/skip`)).status).toBe(200)
      await hear(10, 'two more sounds')
      await addNews(program, radio.stationId)
      await hearTone(news)
      await using wren = goLive(radio, 'wren', 'pw wren', streamers.wren)
      await hearTone(streamers.wren)
      await wren.leave()
      await using lark = goLive(radio, 'lark', 'pw lark', streamers.lark)
      await hearTone(streamers.lark)
      await lark.leave()
      const before = (await heard()).length
      await hear(Math.max(before + 5, 27), 'the songs after the streamers')

      // The title may come after the sound.
      await pause(2_000)
      const delays = delaysOf(await readEar(page))
      expect(delays.length).toBeGreaterThanOrEqual(20)
      expect(delays.filter(({ delayMs }) => Math.abs(delayMs) > 600)).toEqual([])
      expect(Math.abs(median(delays.map(({ delayMs }) => delayMs)))).toBeLessThan(200)
    }
  )

  test('what is shown is what is heard with HLS', { timeout: 420_000 }, async ({ program, openPage }) => {
    await using folder = await openTempFolder()
    await using radio = await openRadio(program, {
      shortName: 'ear_hls',
      station: { crossfade_type: 'none', crossfade: 0, hls_enabled: true, hls_is_default: true },
      addSongs: id => addTones(program, id),
      hlsFolder: folder.path
    })
    expect(radio.liquidsoap.log()).not.toContain('Error')
    const page = await openPage({})
    // The web server of the operator serves these files.
    await page.route('**/hls/ear_hls/**', async route => {
      const name = basename(new URL(route.request().url()).pathname)
      const contentType = name.endsWith('.ts') ? 'video/mp2t' : 'application/vnd.apple.mpegurl'
      const body = await readFile(join(folder.path, name)).catch(() => null)
      await (body === null ? route.fulfill({ status: 404 }) : route.fulfill({ body, contentType }))
    })
    await prepareEar(page)
    await page.goto(`${program.baseUrl}/public/ear_hls`)
    await waitFor(() => existsSync(join(folder.path, 'live.m3u8')), {
      deadlineMs: 30_000,
      what: 'the playlist'
    })
    await page.getByRole('button', { name: 'Listen' }).click()
    await startEar(page)
    const hear = (count: number) =>
      waitFor(async () => stableSounds(await readEar(page), 500).length >= count, {
        deadlineMs: count * 8_000 + 30_000,
        what: `${count} sounds`
      })
    await hear(10)
    expect((await program.ask('POST', `/api/station/${radio.stationId}/backend/skip`)).status).toBe(200)
    await hear(30)
    await pause(2_000)
    const delays = delaysOf(await readEar(page))
    expect(delays.length).toBeGreaterThanOrEqual(20)
    expect(delays.filter(({ delayMs }) => Math.abs(delayMs) > 1_000)).toEqual([])
    expect(Math.abs(median(delays.map(({ delayMs }) => delayMs)))).toBeLessThan(500)
  })
})
