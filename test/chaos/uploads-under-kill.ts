import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

import { wav } from '../support/audio-bytes.ts'
import { askPlainly } from '../support/plain-http.ts'
import { adminKey } from '../support/program.ts'
import type { CuewireProcess } from './cuewire-process.ts'
import type { Fault } from './plan.ts'
import type { Rig } from './rig.ts'
import type { Violation } from './violation.ts'

const songMs = 300_000
const sliceBytes = 64 * 1024
/** How long clients try again after the restart. */
const retryMs = 40_000
const pauseMs = 250
const path = (stationId: number) => `/api/station/${stationId}`

/** A request whose body is sent as slowly as wanted. */
interface Sending {
  readonly method?: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

interface ResponseHead {
  /** 0: none, because the connection broke. */
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

const noResponse: ResponseHead = { status: 0, headers: {} }

/** Sends a body within a time, and returns the response. */
async function send(baseUrl: string, sending: Sending, withinMs: number): Promise<ResponseHead> {
  const { method = 'POST', headers, body } = sending
  const sent = request(baseUrl + sending.path, {
    method,
    agent: false,
    headers: { 'X-API-Key': adminKey, 'Content-Length': String(body.length), ...headers }
  })
  const responded: Promise<ResponseHead> = once(sent, 'response').then(([response]: IncomingMessage[]) => {
    response?.resume()
    return { status: response?.statusCode ?? 0, headers: response?.headers ?? {} }
  })
  responded.catch(() => {})
  const slices = Math.ceil(body.length / sliceBytes)
  for (let slice = 0; slice < slices && !sent.destroyed; slice++) {
    sent.write(body.subarray(slice * sliceBytes, (slice + 1) * sliceBytes))
    await sleep(withinMs / slices)
  }
  sent.end()
  return responded.catch(() => noResponse)
}

/** Sends a file in one of the ways that clients have. Returns the status of its last request. */
type Way = (
  baseUrl: string,
  stationId: number,
  name: string,
  file: Buffer,
  withinMs: number
) => Promise<number>

const json: Way = async (baseUrl, stationId, name, file, withinMs) => {
  const body = Buffer.from(JSON.stringify({ path: name, file: file.toString('base64') }))
  const sending = { path: `${path(stationId)}/files`, headers: { 'Content-Type': 'application/json' }, body }
  return (await send(baseUrl, sending, withinMs)).status
}

const form = (fields: Readonly<Record<string, string | number>>, field: string, file: Uint8Array) => {
  const boundary = randomBytes(12).toString('hex')
  const part = (name: string, rest: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${rest}\r\n\r\n`
  const texts = Object.entries(fields).map(([name, value]) => `${part(name, '')}${value}\r\n`)
  const head = `${texts.join('')}${part(field, '; filename="a.wav"')}`
  const body = Buffer.concat([Buffer.from(head), file, Buffer.from(`\r\n--${boundary}--\r\n`)])
  return { headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` }, body }
}

const multipart: Way = async (baseUrl, stationId, name, file, withinMs) => {
  const sending = { path: `${path(stationId)}/files`, ...form({ path: name }, 'file', file) }
  return (await send(baseUrl, sending, withinMs)).status
}

const flowChunks = 3

const flow: Way = async (baseUrl, stationId, name, file, withinMs) => {
  const chunkBytes = Math.ceil(file.length / flowChunks)
  let status = 0
  for (let number = 1; number <= flowChunks; number++) {
    const chunk = file.subarray((number - 1) * chunkBytes, number * chunkBytes)
    const fields = {
      flowChunkNumber: number,
      flowTotalChunks: flowChunks,
      flowCurrentChunkSize: chunk.length,
      flowTotalSize: file.length,
      flowIdentifier: name,
      flowFilename: name,
      flowRelativePath: name,
      currentDirectory: ''
    }
    const sending = { path: `${path(stationId)}/files/upload`, ...form(fields, 'file_data', chunk) }
    status = (await send(baseUrl, sending, withinMs / flowChunks)).status
    if (status !== 200) break
  }
  return status
}

/** Continues where the upload was, as clients of tus do. */
function openTus(): Way {
  const version = { 'Tus-Resumable': '1.0.0' }
  let upload = ''
  return async (baseUrl, stationId, name, file, withinMs) => {
    if (upload === '') {
      const headers = {
        ...version,
        'Upload-Length': String(file.length),
        'Upload-Metadata': `path ${Buffer.from(name).toString('base64')}`
      }
      const sending = { path: `${path(stationId)}/files/uploads`, headers, body: Buffer.alloc(0) }
      const begun = await send(baseUrl, sending, 0)
      if (begun.status !== 201) return begun.status
      upload = String(begun.headers['location'])
    }
    const head = { method: 'HEAD', path: upload, headers: version, body: Buffer.alloc(0) }
    const { status, headers } = await send(baseUrl, head, 0)
    if (status !== 200) return status
    const offset = Number(headers['upload-offset'])
    const piece = {
      ...version,
      'Upload-Offset': String(offset),
      'Content-Type': 'application/offset+octet-stream'
    }
    const sending = { method: 'PATCH', path: upload, headers: piece, body: file.subarray(offset) }
    return (await send(baseUrl, sending, withinMs)).status
  }
}

/**
 * Sends files to a server that is killed meanwhile. Clients try again until their files are accepted. Each must then be
 * stored whole and once.
 */
export async function uploadUnderKill(rig: Rig, fault: Fault, signal: AbortSignal): Promise<Violation[]> {
  const { sql, servers } = rig
  const { forMs, number, index, share } = fault
  const server = servers[index]
  const [station] = await sql<{ id: number }[]>`select id from stations order by id limit 1`
  const stationId = station?.id ?? 0
  const ways: Readonly<Record<string, Way>> = { json, multipart, flow, tus: openTus() }
  const uploads = Object.entries(ways).map(([way, upload]) => ({
    name: `chaos-${number}-${way}.wav`,
    file: Buffer.concat([wav({ INAM: way }, songMs), randomBytes(64)]),
    upload
  }))
  const endMs = performance.now() + forMs + retryMs
  const uploading = Promise.all(
    uploads.map(async ({ name, file, upload }) => {
      let status = 0
      while (performance.now() < endMs && !signal.aborted) {
        status = await upload(server.baseUrl, stationId, name, file, forMs)
        if (status === 200 || status === 204) break
        await sleep(pauseMs)
      }
      return { name, status }
    })
  )
  await killDuring(server, forMs * share, signal)
  const accepted = await uploading
  if (signal.aborted) return []
  const found = await Promise.all(
    uploads.map(async ({ name, file }, at) => {
      const status = accepted[at]?.status ?? 0
      const problem =
        status === 200 || status === 204
          ? await describeStored(rig, { server, stationId, name, file })
          : `the last response was ${status}`
      const rule = 'an upload that is tried again is stored whole and once'
      return problem === null ? [] : [{ rule, stationId, detail: `${name}: ${problem}` }]
    })
  )
  await sql`delete from media where station_id = ${stationId} and path like 'chaos-%'`
  return found.flat()
}

/** Kills a server after a time, and starts it again. */
async function killDuring(server: CuewireProcess, afterMs: number, signal: AbortSignal): Promise<void> {
  await sleep(afterMs, undefined, { signal }).catch(() => {})
  await server.kill()
  await server.start()
}

interface Expected {
  readonly server: CuewireProcess
  readonly stationId: number
  readonly name: string
  readonly file: Buffer
}

/** Describes what is wrong with a stored file; null: nothing. */
async function describeStored({ sql }: Rig, expected: Expected): Promise<string | null> {
  const { server, stationId, name, file } = expected
  const rows = await sql<{ id: number }[]>`
    select id from media where station_id = ${stationId} and path = ${name}`
  const [song] = rows
  if (song === undefined || rows.length > 1) return `there are ${rows.length} songs`
  const headers = { 'X-API-Key': adminKey }
  const { status, body } = await askPlainly(`${server.baseUrl}${path(stationId)}/file/${song.id}/play`, {
    headers
  })
  const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
  return status === 200 && hash(body) === hash(file)
    ? null
    : `${status}, ${body.length} of ${file.length} bytes`
}
