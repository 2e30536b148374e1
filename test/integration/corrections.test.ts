import { mkdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, onTestFinished } from 'vitest'

import { importMedia } from '../../src/commands/import/import.ts'
import { computeSongId } from '../../src/model/songs/song.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { serveApi } from '../support/api-server.ts'
import { apic, mp3, png, type Tags, txxx } from '../support/audio-bytes.ts'
import { test } from '../support/fixtures.ts'
import { seedStations } from '../support/stations.ts'
import { openTempFolder } from '../support/temp-folder.ts'

const tags = { TPE1: 'Tagged artist', TIT2: 'Tagged title', TALB: 'Tagged album', TCON: 'Jazz' }
const read = { artist: 'Tagged artist', title: 'Tagged title', album: 'Tagged album', genre: 'Jazz' }

/** A station with an imported song in its media folder, and custom fields that are read from tags. */
async function openSong(sql: Sql, redisUrl: string, frames: Buffer[] = []) {
  const folder = await openTempFolder()
  onTestFinished(() => folder[Symbol.asyncDispose]())
  const { base, makeKey } = await serveApi(sql, redisUrl, { variables: { DATA_DIR: folder.path } })
  const [{ id } = { id: 0 }] = await seedStations(sql, { tracks: 0 })
  const key = await makeKey(['administer all'])
  const media = join(folder.path, 'stations', String(id), 'media')
  await mkdir(media, { recursive: true })
  const path = join(media, 'song.mp3')
  await sql`
    insert into custom_fields (name, short_name, auto_assign)
    values ('Mood', 'mood', 'Mood'), ('Tempo', 'tempo', 'bpm'), ('Shelf', 'shelf', 'My Shelf'), ('Own', 'own', '')`
  let time = 1_700_000_000
  /** Writes the file, or only its time. */
  const touch = async (texts: Tags | null = null, more: Buffer[] = frames) => {
    if (texts) await writeFile(path, mp3(texts, 40, more))
    time += 60
    await utimes(path, time, time)
  }
  const run = (replacesCorrections = false) =>
    importMedia(sql, { stationId: id, playlistName: 'Rotation', paths: [media], replacesCorrections })
  await touch(tags)
  await run()
  const [row] = await sql<{ id: number }[]>`select id from media`
  const mediaId = row?.id ?? 0
  const send = async (
    method: string,
    at: string,
    body: string | Uint8Array<ArrayBuffer> | null,
    type: string
  ) => {
    const headers = { 'X-API-Key': key, 'Content-Type': type }
    const response = await fetch(`${base}/api/station/${id}${at}`, { method, headers, body })
    const text = await response.text()
    expect([response.status, text]).toEqual([200, expect.any(String)])
    return JSON.parse(text)
  }
  const ask = (method: string, at: string, body?: object) =>
    send(method, at, body ? JSON.stringify(body) : null, 'application/json')
  const sendCover = (picture: Buffer) => send('POST', `/art/${mediaId}`, new Uint8Array(picture), 'image/png')
  const edit = (body: object) => ask('PUT', `/file/${mediaId}`, body)
  const readAgain = () => ask('PUT', '/files/batch', { do: 'reprocess', files: [path] })
  const song = async () => {
    const { artist, title, album, genre, custom_fields: fields } = await ask('GET', `/file/${mediaId}`)
    return { artist, title, album, genre, fields }
  }
  return { path, touch, run, ask, sendCover, edit, readAgain, song }
}

test('an import keeps each text that a person set, and reads the others', async ({ sql, redisUrl }) => {
  const { touch, run, edit, song } = await openSong(sql, redisUrl)
  await edit({ title: 'Corrected', genre: '' })
  await touch()
  expect(await run()).toMatchObject({ updated: 1 })
  expect(await song()).toMatchObject({ ...read, title: 'Corrected', genre: '' })
  await touch({ ...tags, TIT2: 'Another', TALB: 'New album', TCON: 'Blues' })
  await run()
  expect(await song()).toMatchObject({ ...read, title: 'Corrected', genre: '', album: 'New album' })
  const [row] = await sql`select operator_cues, song_id from media`
  expect(row).toEqual({
    operator_cues: ['genre', 'title'],
    song_id: computeSongId('Tagged artist - Corrected')
  })
  await run(true)
  expect(await song()).toMatchObject({ ...read, title: 'Another', genre: 'Blues', album: 'New album' })
})

test('an upload to the same path keeps what a person set, cover and cue points included', async ({
  sql,
  redisUrl
}) => {
  const { sendCover, ask, edit, song } = await openSong(sql, redisUrl, [apic(png('tag'))])
  await edit({ artist: 'Corrected', extra_metadata: { cue_in: 0.5 } })
  await sendCover(png('own'))
  const [before] = await sql`select artwork_hash from media`
  const file = mp3({ ...tags, TPE1: 'Another', TIT2: 'New title' }, 60, [apic(png('new'))])
  await ask('POST', '/files', { path: 'song.mp3', file: file.toString('base64') })
  expect(await song()).toMatchObject({ ...read, artist: 'Corrected', title: 'New title' })
  expect([...(await sql`select artwork_hash, cue_in_ms from media`)]).toEqual([{ ...before, cue_in_ms: 500 }])
})

test('reading tags again replaces what a person set, and later imports follow the file', async ({
  sql,
  redisUrl
}) => {
  const { touch, run, ask, path, edit, readAgain, song } = await openSong(sql, redisUrl, [
    txxx('Mood', 'calm')
  ])
  await edit({
    title: 'Corrected',
    custom_fields: { mood: 'wild', own: 'kept' },
    extra_metadata: { cue_in: 0.5 }
  })
  await ask('PUT', '/files/batch', { do: 'clear-extra', files: [path] })
  expect(await song()).toMatchObject({ title: 'Corrected', fields: { mood: 'wild', own: 'kept' } })
  await readAgain()
  expect(await song()).toMatchObject({ ...read, fields: { mood: 'calm', own: 'kept' } })
  await touch({ ...tags, TIT2: 'Another' }, [txxx('Mood', 'sad')])
  await run()
  expect(await song()).toMatchObject({ ...read, title: 'Another', fields: { mood: 'sad', own: 'kept' } })
})

test('custom fields are read from the tags that they name, unless a person set or cleared them', async ({
  sql,
  redisUrl
}) => {
  const frames = [txxx('MOOD', 'calm'), txxx('BPM', '120'), txxx('my shelf', 'A3')]
  const { touch, run, edit, song } = await openSong(sql, redisUrl, frames)
  expect((await song()).fields).toEqual({ mood: 'calm', tempo: '120', shelf: 'A3', own: '' })
  await edit({ custom_fields: { mood: 'wild', shelf: '' } })
  await touch(tags, [txxx('MOOD', 'sad'), txxx('BPM', '90'), txxx('my shelf', 'B7')])
  await run()
  expect((await song()).fields).toEqual({ mood: 'wild', tempo: '90', shelf: '', own: '' })
  await touch(tags, [])
  await run()
  expect((await song()).fields).toEqual({ mood: 'wild', tempo: '', shelf: '', own: '' })
  await sql`update custom_fields set auto_assign = case short_name when 'tempo' then 'TBPM' else 'label' end where short_name in ('tempo', 'own')`
  await touch({ ...tags, TBPM: '77', TPUB: 'Blue Note' }, [])
  await run()
  expect((await song()).fields).toEqual({ mood: 'wild', tempo: '77', shelf: '', own: 'Blue Note' })
})

test('texts of a row of an earlier release count as corrected where they differ from the file', async ({
  sql,
  redisUrl
}) => {
  const { touch, run, song } = await openSong(sql, redisUrl)
  await sql`update media set tag_version = 1, title = 'Corrected', album = ''`
  expect(await run()).toMatchObject({ updated: 1 })
  expect(await song()).toMatchObject({ ...read, title: 'Corrected', album: '' })
  await touch({ ...tags, TIT2: 'Another', TPE1: 'New artist' })
  await run()
  expect(await song()).toMatchObject({ ...read, title: 'Corrected', album: '', artist: 'New artist' })
  // Nothing of this file could be read.
  await sql`update media set tag_version = 1, operator_cues = '{}', artist = '', title = 'song', album = '', genre = ''`
  await run()
  expect(await song()).toMatchObject({ title: 'song', artist: '', album: 'Tagged album', genre: 'Jazz' })
  await touch()
  await run()
  expect(await song()).toMatchObject({ ...read, title: 'Another', artist: 'New artist' })
})

test('what an earlier release could not read is not a correction, and stays until the file changes', async ({
  sql,
  redisUrl
}) => {
  const { touch, run, song } = await openSong(sql, redisUrl)
  await touch({ ...tags, TPE1: 'AC/DC', TIT2: 'Café' })
  await run()
  await sql`update media set tag_version = 1, artist = 'AC', title = 'Caf\uFFFD', song_id = ${computeSongId('AC - Caf\uFFFD')}`
  await run()
  // U+FFFD is removed from what that release writes.
  expect(await song()).toMatchObject({ artist: 'AC', title: 'Caf' })
  await touch()
  await run()
  expect(await song()).toMatchObject({ artist: expect.stringMatching(/^AC/), title: 'Café' })
})

test('a title that was derived from the path of a new record is replaced by the tag of its file', async ({
  sql,
  redisUrl
}) => {
  const { ask, path } = await openSong(sql, redisUrl)
  const { id } = await ask('POST', '/files', { path: 'later.mp3' })
  await ask('POST', '/files', { path: 'later.mp3', file: (await readFile(path)).toString('base64') })
  expect(await ask('GET', `/file/${id}`)).toMatchObject({ title: 'Tagged title' })
})
