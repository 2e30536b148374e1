import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { onTestFinished } from 'vitest'

import type { Sql } from '../../src/stores/db/sql.ts'
import { serveApi } from './api-server.ts'
import { seedStations } from './stations.ts'
import { openTempFolder } from './temp-folder.ts'

interface Init {
  readonly body?: NonNullable<RequestInit['body']>
  readonly headers?: Record<string, string>
  readonly duplex?: 'half'
}

/** A server with a data folder of its own, and a station without songs. */
export async function serveUploads(sql: Sql, redisUrl: string, variables: Record<string, string> = {}) {
  const folder = await openTempFolder()
  onTestFinished(() => folder[Symbol.asyncDispose]())
  const server = await serveApi(sql, redisUrl, { variables: { DATA_DIR: folder.path, ...variables } })
  const [{ id, playlistId } = { id: 0, playlistId: 0 }] = await seedStations(sql, { tracks: 0 })
  const key = await server.makeKey(['administer all'])
  const media = join(folder.path, 'stations', String(id), 'media')
  const ask = async (method: string, path: string, init: Init = {}) => {
    const response = await fetch(`${server.base}/api/station/${id}${path}`, {
      method,
      ...init,
      headers: { 'X-API-Key': key, ...init.headers }
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) }
  }
  const askJson = (method: string, path: string, body: object) =>
    ask(method, path, { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } })
  const begin = (length: number, metadata: Record<string, string>) =>
    ask('POST', '/files/uploads', {
      headers: {
        'Tus-Resumable': '1.0.0',
        'Upload-Length': String(length),
        'Upload-Metadata': Object.entries(metadata)
          .map(([name, value]) => `${name} ${Buffer.from(value).toString('base64')}`)
          .join(',')
      }
    })
  const patch = (upload: string, offset: number, body: Uint8Array) =>
    ask('PATCH', `/files/uploads/${upload}`, {
      body: Buffer.from(body),
      headers: {
        'Tus-Resumable': '1.0.0',
        'Upload-Offset': String(offset),
        'Content-Type': 'application/offset+octet-stream'
      }
    })
  const head = (upload: string) =>
    ask('HEAD', `/files/uploads/${upload}`, { headers: { 'Tus-Resumable': '1.0.0' } })
  return {
    ...server,
    id,
    playlistId,
    key,
    dataDir: folder.path,
    media,
    ask,
    askJson,
    begin,
    patch,
    head,
    leftovers: async () => {
      const uploads = join(folder.path, 'uploads')
      return existsSync(uploads) ? readdir(uploads) : []
    },
    songs: async () =>
      sql<{ path: string; title: string; size: number }[]>`
        select path, title, size_bytes as size from media where station_id = ${id} order by path`
  }
}

/** The id of an upload that was begun. */
export const uploadOf = (headers: Headers) => headers.get('location')?.split('/').at(-1) ?? ''
