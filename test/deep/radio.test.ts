import { readFile } from 'node:fs/promises'

import { describe, expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import { adminKey, type RunningProgram } from '../support/program.ts'
import { goLive, listen } from '../support/radio-people.ts'
import { type RadioWatch, seenAt, watchRadio } from '../support/radio-watch.ts'
import { openRadio, type Radio, whyNoRadio } from '../support/radio.ts'
import { startS3 } from '../support/s3.ts'
import { toneWav } from '../support/tone.ts'
import { waitFor } from '../support/wait.ts'

const soon = { deadlineMs: 30_000 }

interface PlayRow {
  readonly id: number
  readonly text: string
  readonly streamer: string
  readonly startedAtMs: number
  readonly endedAtMs: number | null
  readonly start: number
  readonly end: number
  readonly gained: number
  readonly lost: number
  readonly peak: number
  readonly unique: number
}

const playsOf = ({ sql }: Pick<RunningProgram, 'sql'>, { stationId }: Radio) => sql<PlayRow[]>`
  select id, concat_ws(' - ', nullif(artist, ''), title) as text, streamer, started_at_ms as "startedAtMs",
    ended_at_ms as "endedAtMs", listeners_start as start, listeners_end as end, delta_positive as gained,
    delta_negative as lost, listeners_peak as peak, unique_listeners as unique
  from song_history where station_id = ${stationId} order by started_at_ms, id`

/** A displayed song without the id of its play. */
const textOf = (shown: string) => shown.replace(/^\d+ /, '')

/** Waits until this number of further songs has started. Returns the time of the last start. */
async function songs(watch: RadioWatch, count: number): Promise<number> {
  const from = watch.shown.length
  await waitFor(() => watch.shown.length >= from + count, { deadlineMs: count * 20_000, what: 'songs' })
  return watch.shown.at(-1)?.atMs ?? 0
}

async function counted(watch: RadioWatch, total: number, unique: number): Promise<void> {
  const isCounted = () => {
    const { listeners } = watch.newest()
    return listeners.total === total && listeners.unique === unique
  }
  await waitFor(isCounted, { ...soon, what: `${total} listeners, ${unique} of them unique` })
}

describe.skipIf(whyNoRadio() !== null)('a real radio', () => {
  test(
    'shows the song of the stream at every moment, and counts its listeners',
    { timeout: 300_000 },
    async ({ program }) => {
      await using radio = await openRadio(program, { shortName: 'ten_songs', melodySeconds: 10 })
      await using watch = watchRadio(program, radio)
      await waitFor(() => watch.shown.length > 1, { ...soon, what: 'the first song' })
      const fromMs = await songs(watch, 1)
      using first = await listen(radio.mountUrl(), 'VLC')
      using second = await listen(radio.mountUrl(), 'VLC')
      using third = await listen(radio.mountUrl(), 'foobar')
      await counted(watch, 3, 2)
      const joined = watch.newest().now_playing.sh_id
      await songs(watch, 1)
      third.leave()
      await counted(watch, 2, 1)
      const left = watch.newest().now_playing.sh_id
      const toMs = await songs(watch, 10)
      expect([first.bytes(), second.bytes()].every(bytes => bytes > 500_000)).toBe(true)

      // Within 300 ms after a change of either, Cuewire and the stream have the same song.
      const changes = [...watch.shown, ...watch.streamed].filter(({ atMs }) => atMs >= fromMs && atMs < toMs)
      expect(changes.length).toBeGreaterThanOrEqual(20)
      const wrong = changes
        .map(({ atMs }) => [textOf(seenAt(watch.shown, atMs + 300)), seenAt(watch.streamed, atMs + 300)])
        .filter(([ours, theirs]) => ours !== theirs)
      expect(wrong).toEqual([])

      const plays = await playsOf(program, radio)
      // A new song is shown before its title is in the stream.
      await expect
        .poll(() => watch.streamed.map(({ value }) => value).slice(-12), { timeout: 5_000 })
        .toEqual(plays.map(({ text }) => text).slice(-12))
      const gaps = plays
        .slice(0, -1)
        .map((play, index) => (plays[index + 1]?.startedAtMs ?? 0) - (play.endedAtMs ?? 0))
      expect(gaps.every(gap => gap === 0)).toBe(true)
      for (const { text, startedAtMs } of plays.slice(-11)) {
        const delays = watch.streamed
          .filter(({ value }) => value === text)
          .map(({ atMs }) => Math.abs(atMs - startedAtMs))
        expect(Math.min(...delays)).toBeLessThan(1_000)
      }
      expect(plays.find(({ id }) => id === joined)).toMatchObject({
        start: 0,
        end: 3,
        gained: 3,
        lost: 0,
        peak: 3,
        unique: 2
      })
      expect(plays.find(({ id }) => id === left)).toMatchObject({
        start: 3,
        end: 2,
        gained: 0,
        lost: 1,
        peak: 3,
        unique: 2
      })
      expect(plays.at(-2)).toMatchObject({ start: 2, end: 2, gained: 0, lost: 0, peak: 2, unique: 1 })
    }
  )

  test('plays songs from S3 storage', { timeout: 180_000 }, async ({ program }) => {
    await using s3 = await startS3()
    const { bucket, endpoint, credentialKey, credentialSecret } = s3.settings
    await using radio = await openRadio(program, {
      shortName: 'bucket',
      addSongs: async stationId => {
        const location = await program.ask('POST', '/api/admin/storage_locations', {
          body: {
            type: 'station_media',
            adapter: 's3',
            s3Bucket: bucket,
            s3Endpoint: endpoint,
            s3CredentialKey: credentialKey,
            s3CredentialSecret: credentialSecret
          }
        })
        await program.ask('PUT', `/api/admin/station/${stationId}`, {
          body: { media_storage_location_id: location.body.id }
        })
        const playlist = await program.ask('POST', `/api/station/${stationId}/playlists`, {
          body: { name: 'Tones' }
        })
        for (const name of ['One', 'Two & three', 'Four'])
          await program.ask('POST', `/api/station/${stationId}/files`, {
            body: {
              path: `tönes/${name}.wav`,
              file: toneWav(Array.from({ length: 8 }, () => 0.5)).toString('base64'),
              playlists: [playlist.body.id]
            }
          })
      }
    })
    await using watch = watchRadio(program, radio)
    await expect
      .poll(() => watch.streamed.map(({ value }) => value), { timeout: 60_000 })
      .toEqual(expect.arrayContaining(['One', 'Two & three', 'Four']))
  })

  test(
    'plays songs from their cue in, and the next one from its start',
    { timeout: 180_000 },
    async ({ program }) => {
      await using radio = await openRadio(program, { shortName: 'cues', melodySeconds: 10 })
      await using watch = watchRadio(program, radio)
      const files = `/api/station/${radio.stationId}/files`
      for (const { id } of (await program.ask('GET', files)).body) {
        const extra_metadata = { cue_in: 1, cue_out: 9, cross_start_next: 6, fade_in: 0.2, amplify: -3 }
        const path = `/api/station/${radio.stationId}/file/${id}`
        expect((await program.ask('PUT', path, { body: { extra_metadata } })).status).toBe(200)
      }
      // Songs that were sent before play from start to end.
      await waitFor(() => watch.newest().now_playing.duration === 8, {
        deadlineMs: 60_000,
        what: 'a cue point'
      })
      await songs(watch, 4)
      const plays = await playsOf(program, radio)
      const seconds = plays
        .slice(-5, -1)
        .map(({ startedAtMs, endedAtMs }) => ((endedAtMs ?? 0) - startedAtMs) / 1_000)
      for (const each of seconds.slice(1)) expect(each).toBeCloseTo(5, 0)
      // Warnings about the script, before the log, repeat its lines; since 2.3, the first start finds no cache.
      const isError = (line: string) => /^\d{4}\/.*rror/.test(line) && !line.includes('loading cache')
      expect(radio.liquidsoap.log().split('\n').filter(isError)).toEqual([])
    }
  )

  test('begins with the intro of the mount', { timeout: 120_000 }, async ({ program }) => {
    const intro = await readFile(new URL('../support/audio/tagged.mp3', import.meta.url))
    await using radio = await openRadio(program, {
      shortName: 'intro',
      addSongs: async stationId => {
        const { body: mounts } = await program.ask('GET', `/api/station/${stationId}/mounts`)
        const url = `${program.baseUrl}/api/station/${stationId}/mount/${mounts[0].id}/intro`
        const headers = { 'X-API-Key': adminKey, 'Content-Type': 'audio/mpeg' }
        expect((await fetch(url, { method: 'POST', headers, body: intro })).status).toBe(200)
      }
    })
    const left = new AbortController()
    const { body } = await fetch(radio.mountUrl(), { signal: left.signal })
    const received: Buffer[] = []
    for await (const piece of body ?? []) {
      received.push(Buffer.from(piece))
      if (Buffer.concat(received).length >= intro.length) break
    }
    left.abort()
    expect(Buffer.concat(received).subarray(0, intro.length)).toEqual(intro)
  })

  test('disconnects a streamer and restarts on command', { timeout: 120_000 }, async ({ program }) => {
    await using radio = await openRadio(program, {
      shortName: 'commands',
      station: { enable_streamers: true }
    })
    await using watch = watchRadio(program, radio)
    await waitFor(() => watch.shown.length > 1, { ...soon, what: 'the first song' })
    const path = `/api/station/${radio.stationId}`
    const body = { streamer_username: 'wren', streamer_password: 'a good one' }
    await program.ask('POST', `${path}/streamers`, { body })
    await using wren = goLive(radio, 'wren', 'a good one')
    await waitFor(() => watch.newest().live.is_live, { ...soon, what: 'the streamer' })
    expect((await program.ask('POST', `${path}/backend/disconnect`)).status).toBe(200)
    await waitFor(() => !watch.newest().live.is_live, { ...soon, what: 'the end of the broadcast' })
    expect(wren.problem()).not.toBe('')
    const starts = () => radio.liquidsoap.log().split('LOG START').length
    const before = starts()
    expect((await program.ask('POST', `${path}/restart`)).status).toBe(200)
    await waitFor(() => starts() > before, { ...soon, what: 'the restart' })
    const status = async () => (await program.ask('GET', `${path}/status`)).body
    const running = { backendRunning: true, frontendRunning: true }
    await expect.poll(status, { timeout: 30_000 }).toEqual(running)
    await songs(watch, 1)
  })

  test('shows titles of streamers in every charset', { timeout: 180_000 }, async ({ program }) => {
    await using radio = await openRadio(program, { shortName: 'charsets', melodySeconds: 20 })
    const body = { streamer_username: 'wren', streamer_password: 'pw wren', display_name: 'DJ wren' }
    const made = await program.ask('POST', `/api/station/${radio.stationId}/streamers`, { body })
    expect(made.status).toBe(200)
    await using watch = watchRadio(program, radio)
    await waitFor(() => watch.shown.length > 1, { ...soon, what: 'the first song' })
    await using wren = goLive(radio, 'wren', 'pw wren')
    await waitFor(() => watch.live.at(-1)?.value === 'DJ wren', { ...soon, what: 'the streamer' })
    for (const [charset, escaped, title] of [
      ['KOI8-R', '%EB%C9%CE%CF', 'Кино'],
      ['Shift_JIS', '%93%FA%96%7B%8C%EA', '日本語'],
      // Names that Liquidsoap does not know.
      ['windows-1252', 'Mira - Caf%E9 %93%22%94 %5C %80', 'Mira - Café “"” \\ €'],
      ['nonsense', 'Ola - %C5ngest', 'Ola - Ångest'],
      ['windows-1251', '%D0%9A%D0%B8%D0%BD%D0%BE 2', 'Кино 2']
    ] as const) {
      expect(await wren.tellEscapedTitle(escaped, charset)).toBe(200)
      await waitFor(() => watch.shown.at(-1)?.value.endsWith(title) ?? false, { ...soon, what: title })
    }
    expect(radio.liquidsoap.log()).not.toContain('was refused')
  })

  test('is taken over by streamers and returned to AutoDJ', { timeout: 180_000 }, async ({ program }) => {
    await using radio = await openRadio(program, { shortName: 'live', melodySeconds: 20 })
    const path = `/api/station/${radio.stationId}/streamers`
    for (const user of ['wren', 'lark']) {
      const body = { streamer_username: user, streamer_password: `pw ${user}`, display_name: `DJ ${user}` }
      expect((await program.ask('POST', path, { body })).status).toBe(200)
    }
    await using watch = watchRadio(program, radio)
    await waitFor(() => watch.shown.length > 1, { ...soon, what: 'the first song' })
    const logged = (sentence: string) =>
      waitFor(() => radio.liquidsoap.log().includes(sentence), { ...soon, what: sentence }).then(() =>
        Date.now()
      )
    const liveFrom = async (name: string) => {
      await waitFor(() => watch.live.at(-1)?.value === name, { ...soon, what: `${name || 'nobody'} live` })
      return watch.live.at(-1)?.atMs ?? 0
    }
    const before = textOf(watch.shown.at(-1)?.value ?? '')

    await using rejected = goLive(radio, 'wren', 'no idea')
    await waitFor(() => rejected.problem() !== '', { ...soon, what: 'the refusal' })
    await using wren = goLive(radio, 'wren', 'pw wren')
    const heardMs = await logged('wren is on air')
    expect((await liveFrom('DJ wren')) - heardMs).toBeLessThan(1_000)
    // Without a title of the streamer, the stream has the same text as now playing.
    const isUntitled = () =>
      watch.streamed.at(-1)?.value === 'Live Broadcast' &&
      watch.newest().now_playing.song.text === 'Live Broadcast'
    await waitFor(isUntitled, { ...soon, what: 'the live text' })
    expect(await wren.tellTitle('The Low Signals - Night Ferry')).toBe(200)
    await waitFor(() => watch.shown.at(-1)?.value.endsWith('The Low Signals - Night Ferry') ?? false, {
      ...soon,
      what: 'the title'
    })
    expect(watch.newest()).toMatchObject({
      is_online: true,
      now_playing: { streamer: 'DJ wren', duration: 0 }
    })

    const leftMs = Date.now()
    await wren.leave()
    await using lark = goLive(radio, 'lark', 'pw lark')
    const nextMs = await logged('lark is on air')
    expect((await liveFrom('DJ lark')) - nextMs).toBeLessThan(1_000)
    const wrenEndedMs =
      watch.live.find(({ value, atMs }) => value !== 'DJ wren' && atMs > leftMs)?.atMs ?? Infinity
    // A second of their sound is buffered.
    expect(wrenEndedMs - leftMs).toBeLessThan(3_000)
    expect(await lark.tellTitle('Mira Solano - Tides')).toBe(200)
    await waitFor(() => watch.shown.at(-1)?.value.endsWith('Mira Solano - Tides') ?? false, {
      ...soon,
      what: 'the other title'
    })

    const overMs = Date.now()
    await lark.leave()
    expect((await liveFrom('')) - overMs).toBeLessThan(3_000)
    await waitFor(() => watch.newest().now_playing.streamer === '', { ...soon, what: 'the next song' })
    const isSame = () => watch.streamed.at(-1)?.value === watch.newest().now_playing.song.text
    await waitFor(isSame, { ...soon, what: 'its title in the stream' })
    const plays = await playsOf(program, radio)
    const names = plays.map(({ streamer }) => streamer)
    expect(names.filter((name, at) => name !== names[at - 1])).toEqual(['', 'DJ wren', 'DJ lark', ''])
    expect(plays.filter(({ text }) => text === before)).toHaveLength(1)
    expect(watch.shown.some(({ value }) => value === 'offline' && value !== watch.shown[0]?.value)).toBe(
      false
    )
    const { body: broadcasts } = await program.ask(
      'GET',
      `/api/station/${radio.stationId}/streamers/broadcasts`
    )
    expect(broadcasts.map(({ username }: { username: string }) => username)).toEqual(['lark', 'wren'])
  })
})
