import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect } from 'vitest'

import type { Sql } from '../../src/stores/db/sql.ts'
import { mp3 } from '../support/audio-bytes.ts'
import { test } from '../support/fixtures.ts'
import { serveUploads } from '../support/upload-server.ts'

const song = mp3({ TIT2: 'Aria' }, 400)
const chunkBytes = 10_000

/** Sends chunks as flow.js does: the last one is larger than the others. */
async function serveFlow(sql: Sql, redisUrl: string, content: Buffer = song) {
  const server = await serveUploads(sql, redisUrl)
  const count = Math.floor(content.length / chunkBytes)
  const startOf = (number: number) => (number - 1) * chunkBytes
  const bytesOf = (number: number) =>
    content.subarray(startOf(number), number === count ? content.length : startOf(number + 1))
  const parametersOf = (number: number, others: Record<string, string> = {}) => ({
    flowChunkNumber: String(number),
    flowTotalChunks: String(count),
    flowChunkSize: String(chunkBytes),
    flowCurrentChunkSize: String(bytesOf(number).length),
    flowTotalSize: String(content.length),
    flowIdentifier: `${content.length}-arimp3`,
    flowFilename: 'aria.mp3',
    flowRelativePath: 'disc 1/aria.mp3',
    currentDirectory: 'ishizaka',
    ...others
  })
  const send = (number: number, others: Record<string, string> = {}, bytes = bytesOf(number)) => {
    const form = new FormData()
    for (const [name, value] of Object.entries(parametersOf(number, others))) form.set(name, value)
    form.set('file_data', new Blob([Buffer.from(bytes)]), 'blob')
    return server.ask('POST', '/files/upload', { body: form })
  }
  /** A chunk in a form whose parameters follow it. */
  const sendEarly = (number: number) => {
    const form = new FormData()
    form.set('file_data', new Blob([Buffer.from(bytesOf(number))]), 'blob.mp3')
    for (const [name, value] of Object.entries(parametersOf(number))) form.set(name, value)
    return server.ask('POST', '/files/upload', { body: form })
  }
  const isThere = async (number: number) => {
    const { status } = await server.ask(
      'GET',
      `/files/upload?${new URLSearchParams(parametersOf(number)).toString()}`
    )
    return status
  }
  const numbers = Array.from({ length: count }, (_, index) => index + 1)
  return { ...server, send, sendEarly, isThere, numbers, bytesOf }
}

test('chunks in any order, some of them twice, become one song', async ({ sql, redisUrl }) => {
  const { send, isThere, numbers, songs, media, leftovers, ask } = await serveFlow(sql, redisUrl)
  expect(numbers.length).toBeGreaterThan(2)
  const [first = 0, ...others] = numbers
  const sent = await Promise.all([...others, ...others].toReversed().map(number => send(number)))
  expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([200]))
  expect(await songs()).toEqual([])
  expect([await isThere(first), await isThere(first + 1)]).toEqual([204, 200])
  const last = await send(first)
  const path = 'ishizaka/disc 1/aria.mp3'
  expect((await ask('GET', `/file/${last.headers.get('cuewire-file-id')}`)).body).toMatchObject({ path })
  expect(await songs()).toEqual([{ path, title: 'Aria', size: song.length }])
  expect((await readFile(join(media, path))).equals(song)).toBe(true)
  expect(await leftovers()).toEqual([])
  // The same file may be sent again.
  expect(await isThere(first)).toBe(204)
  for (const number of numbers) expect(await send(number)).toMatchObject({ status: 200 })
  expect(await songs()).toEqual([{ path, title: 'Aria', size: song.length }])
})

test('a plain form is a whole file; the folder may follow it', async ({ sql, redisUrl }) => {
  const { ask, songs, leftovers } = await serveFlow(sql, redisUrl)
  const upload = async (name: string, folder: string) => {
    const form = new FormData()
    form.set('song', new Blob([Buffer.from(song)]), name)
    form.set('currentDirectory', folder)
    return (await ask('POST', '/files/upload', { body: form })).status
  }
  expect(await upload('plain.mp3', 'ishizaka')).toBe(200)
  expect(await upload('plain.mp3', '..')).toBe(400)
  expect(await songs()).toEqual([{ path: 'ishizaka/plain.mp3', title: 'Aria', size: song.length }])
  expect(await leftovers()).toEqual([])
})

test('chunks that do not fit to their parameters are refused', async ({ sql, redisUrl }) => {
  const { send, sendEarly, isThere, bytesOf, songs, leftovers } = await serveFlow(sql, redisUrl)
  const refused: Record<string, string>[] = [
    { flowChunkNumber: '0' },
    { flowChunkNumber: '99' },
    { flowTotalSize: '1' },
    { flowTotalChunks: 'x' },
    { flowRelativePath: '../aria.mp3' }
  ]
  for (const others of refused) expect((await send(1, others)).status).toBe(400)
  expect(await send(1, { flowTotalSize: '10000000000' })).toMatchObject({ status: 413 })
  expect(await send(1, {}, bytesOf(1).subarray(1))).toMatchObject({ status: 400 })
  expect(await send(1, {}, Buffer.concat([bytesOf(1), bytesOf(2)]))).toMatchObject({ status: 400 })
  expect(await sendEarly(1)).toMatchObject({
    status: 400,
    body: { extra_data: { errors: [{ field: 'file_data' }] } }
  })
  expect(await isThere(1)).toBe(204)
  expect(await songs()).toEqual([])
  expect(await leftovers()).toEqual([])
})

test('chunks of a file that is not audio are refused with the last one', async ({ sql, redisUrl }) => {
  const zip = Buffer.concat([Buffer.from('PK\u0003\u0004'), Buffer.alloc(35_000, 7)])
  const { send, numbers, songs, leftovers } = await serveFlow(sql, redisUrl, zip)
  const statuses: number[] = []
  for (const number of numbers) statuses.push((await send(number)).status)
  expect(statuses).toEqual([200, 200, 400])
  expect(await songs()).toEqual([])
  expect(await leftovers()).toEqual([])
})
