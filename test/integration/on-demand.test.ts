import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'

import { expect } from 'vitest'

import { isolatedTest as test } from '../support/fixtures.ts'
import { startPlaying } from '../support/playing.ts'
import { canMeasure, sizeOf } from '../support/process-size.ts'
import type { Program } from '../support/program.ts'

/** Puts a file into the media folder of a new station. Returns the path of its download. */
async function addSong(program: Program, bytes: Uint8Array): Promise<string> {
  const { id, playlistId } = await startPlaying(program, { tracks: 1 })
  const folder = join(program.dataDir, 'stations', String(id), 'media')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'song.mp3'), bytes)
  await program.ask('PUT', `/api/station/${id}/playlist/${playlistId}`, {
    body: { include_in_on_demand: true }
  })
  const [song] = await program.sql<{ id: number }[]>`
    update media set path = 'song.mp3' where station_id = ${id} returning id`
  return `/api/station/${id}/ondemand/download/${song?.id}`
}

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

test('a song of any size is sent completely', async ({ program }) => {
  for (const size of [0, 1, 16 * 1024, 16 * 1024 + 1, 9 * 2 ** 20 + 7]) {
    const song = randomBytes(size)
    const url = program.baseUrl + (await addSong(program, song))
    const head = await fetch(url, { method: 'HEAD' })
    expect([size, head.headers.get('content-length')]).toEqual([size, String(size)])
    const responses = await Promise.all([fetch(url), fetch(url)])
    for (const response of responses) {
      expect([size, response.status, response.headers.get('content-type')]).toEqual([size, 200, 'audio/mpeg'])
      expect([size, digest(new Uint8Array(await response.arrayBuffer()))]).toEqual([size, digest(song)])
    }
  }
})

test('songs outside the media folder are not listed, since they cannot be downloaded', async ({
  program
}) => {
  const download = await addSong(program, randomBytes(10))
  const stationId = Number(download.split('/')[3])
  const folder = join(program.dataDir, 'stations', String(stationId), 'media')
  const list = async (path: string) => {
    await program.sql`update media set path = ${path} where station_id = ${stationId}`
    const { body } = await program.ask('GET', `/api/station/${stationId}/ondemand`)
    return body.map((each: { download_url: string }) => each.download_url)
  }
  expect(await list('song.mp3')).toEqual([download])
  expect(await list(join(folder, 'song.mp3'))).toEqual([download])
  expect(await list('https://media.example/song.mp3')).toEqual([download])
  expect(await list(`${folder}-other/song.mp3`)).toEqual([])
  expect(await list('/music/song.mp3')).toEqual([])
})

test.runIf(canMeasure)('clients that do not read their download use no memory', async ({ program }) => {
  const path = await addSong(program, randomBytes(64 * 2 ** 20))
  const { hostname, port } = new URL(program.baseUrl)
  const pid = program.server.pid ?? 0
  const before = await sizeOf(pid)
  const clients = Array.from({ length: 4 }, () => connect(Number(port), hostname))
  try {
    for (const client of clients) {
      client.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`)
      await once(client, 'readable')
    }
    const after = await sizeOf(pid)
    expect(after.rssMiB - before.rssMiB).toBeLessThan(40)
  } finally {
    for (const client of clients) client.destroy()
  }
})
