import { mkdir, open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect } from 'vitest'

import { decodeAudio } from '../../src/library/media/decode-audio.ts'
import { openPeakCollector } from '../../src/library/media/peaks.ts'
import { test } from '../support/fixtures.ts'
import { startPlaying } from '../support/playing.ts'
import { adminKey, type JsonBody, type Program } from '../support/program.ts'
import { startS3 } from '../support/s3.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { toneWav } from '../support/tone.ts'
import { waitFor } from '../support/wait.ts'

/** Puts a file into the media folder of a new station. Returns the id of its song and the station. */
async function addSong(program: Program, bytes: Uint8Array, name = 'song.wav') {
  const { id: stationId } = await startPlaying(program, { tracks: 1 })
  const folder = join(program.dataDir, 'stations', String(stationId), 'media')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, name), bytes)
  const [song] = await program.sql<{ id: number; uniqueId: string }[]>`
    update media set path = ${name} where station_id = ${stationId} returning id, unique_id as "uniqueId"`
  if (!song) throw new Error('no song')
  return { ...song, stationId, path: join(folder, name) }
}

async function readWaveform(program: Program, stationId: number, media: number | string) {
  const url = `${program.baseUrl}/api/station/${stationId}/waveform/${media}.json`
  const response = await fetch(url, { headers: { 'X-API-Key': adminKey } })
  const body: JsonBody = await response.json()
  return { status: response.status, headers: response.headers, body }
}

/** Requests the waveform until it is made or has failed. */
const awaitWaveform = (program: Program, stationId: number, media: number | string) =>
  waitFor(
    async () => {
      const response = await readWaveform(program, stationId, media)
      return response.status === 202 ? null : response
    },
    { deadlineMs: 15_000, what: 'the waveform' }
  )

test('the waveform of a song is made at the first request, and again when its file changes', async ({
  program
}) => {
  const { stationId, id, uniqueId, path } = await addSong(program, toneWav([1, 0, 0.5]))
  const first = await readWaveform(program, stationId, id)
  expect([first.status, first.headers.get('retry-after')]).toEqual([202, '1'])
  const made = await awaitWaveform(program, stationId, id)
  expect(made.body).toMatchObject({
    version: 2,
    channels: 1,
    sample_rate: 8_000,
    samples_per_pixel: 64,
    bits: 8
  })
  expect(made.body.data.length).toBe(2 * made.body.length)
  expect(Math.max(...made.body.data.slice(0, 240))).toBe(127)
  expect(Math.max(...made.body.data.slice(260, 490))).toBe(0)
  expect(Math.max(...made.body.data.slice(510))).toBe(64)
  expect((await readWaveform(program, stationId, uniqueId)).body).toEqual(made.body)

  await writeFile(path, toneWav([0.5]))
  await program.sql`update media set size_bytes = size_bytes + 1 where id = ${id}`
  const changed = await awaitWaveform(program, stationId, id)
  expect(Math.max(...changed.body.data)).toBe(64)
})

test('a song without a waveform says why', async ({ program }) => {
  const text = await addSong(program, Buffer.from('plain text, no audio at all'.repeat(10)), 'song.mp3')
  const refused = await awaitWaveform(program, text.stationId, text.id)
  expect([refused.status, refused.body.message]).toEqual([
    404,
    'The file has no waveform: its format is not supported.'
  ])
  await program.sql`update media set path = 'missing.mp3' where id = ${text.id}`
  const missing = await awaitWaveform(program, text.stationId, text.id)
  expect(missing.body.message).toBe('The file has no waveform: it does not exist.')
  await program.sql`update media set path = 'https://media.example/song.mp3' where id = ${text.id}`
  const url = await readWaveform(program, text.stationId, text.id)
  expect([url.status, url.body.message]).toEqual([404, 'A URL has no waveform.'])
  const other = await addSong(program, toneWav([1]))
  for (const media of [other.id, other.uniqueId, 'nothing', '../1'])
    expect([media, (await readWaveform(program, text.stationId, media)).status]).toEqual([media, 404])
})

test('a file in a bucket is copied for its waveform', async ({ program }) => {
  await using s3 = await startS3()
  const { id: stationId } = await startPlaying(program, { tracks: 1 })
  const { settings } = s3
  const location = await program.ask('POST', '/api/admin/storage_locations', {
    body: {
      type: 'station_media',
      adapter: 's3',
      path: 'music',
      s3Bucket: settings.bucket,
      s3Endpoint: settings.endpoint,
      s3Region: settings.region,
      s3CredentialKey: settings.credentialKey,
      s3CredentialSecret: settings.credentialSecret
    }
  })
  await program.sql`update stations set media_storage_location_id = ${location.body.id} where id = ${stationId}`
  const stored = await program.ask('POST', `/api/station/${stationId}/files`, {
    body: { path: 'tone.wav', file: toneWav([0.5, 1]).toString('base64') }
  })
  const { body } = await awaitWaveform(program, stationId, stored.body.id)
  expect([body.sample_rate, Math.max(...(body.data ?? []))]).toEqual([8_000, 127])
})

test('MP3, FLAC, Ogg Vorbis and WAV are decoded without other programs', async () => {
  for (const name of ['tagged.mp3', 'tagged.flac', 'tagged.ogg', 'tagged.wav']) {
    await using file = await open(new URL(`../support/audio/${name}`, import.meta.url))
    const peaks = openPeakCollector()
    for await (const samples of decodeAudio(file)) peaks.add(samples)
    const waveform = peaks.finish()
    const seconds =
      ((waveform?.peaks.length ?? 0) / 2) * ((waveform?.samplesPerPixel ?? 0) / (waveform?.sampleRate ?? 1))
    expect([name, seconds > 0.3 && seconds < 10]).toEqual([name, true])
  }
})

test('damaged files end with an error or what could be decoded', async () => {
  await using folder = await openTempFolder()
  for (const name of ['tagged.mp3', 'tagged.flac', 'tagged.ogg', 'tagged.wav']) {
    const bytes = await readFile(new URL(`../support/audio/${name}`, import.meta.url))
    for (let at = 300; at < bytes.length; at += 7) bytes[at] = (bytes[at] ?? 0) ^ at
    const path = join(folder.path, name)
    await writeFile(path, bytes.subarray(0, Math.floor(bytes.length * 0.8)))
    await using file = await open(path)
    const peaks = openPeakCollector()
    try {
      for await (const samples of decodeAudio(file)) peaks.add(samples)
    } catch (error) {
      expect(error).toBeInstanceOf(Error)
    }
  }
})
