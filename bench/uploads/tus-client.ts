import { randomBytes, randomInt } from 'node:crypto'
import { type ClientRequest, request } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { setTimeout as wait } from 'node:timers/promises'

const concurrency = 4
const cuts = 5
const retries = 200
const retryMs = 50
export const headerBytes = 44
const tus = { 'Tus-Resumable': '1.0.0' }

/** What is uploaded, and where. */
export interface UploadRun {
  readonly baseUrl: string
  readonly apiKey: string
  readonly files: number
  readonly sizeBytes: number
  /** Of each of the four connections; null: as fast as possible. */
  readonly bytesPerSecond: number | null
}

export interface UploadResult {
  readonly seconds: number
  /** Connections that ended too early. */
  readonly cutCount: number
}

/** Uploads all files, four at a time. Five connections are cut at random places. */
export async function uploadAll(run: UploadRun): Promise<UploadResult> {
  const { files, sizeBytes } = run
  const body = randomBytes(sizeBytes - headerBytes - 8)
  const cutFiles = Array.from({ length: cuts }, () => randomInt(files))
  const startedMs = performance.now()
  let next = 0
  let cutCount = 0
  const work = async () => {
    for (let number = next++; number < files; number = next++) {
      const times = cutFiles.filter(each => each === number).length
      const content = Buffer.concat([wavHeader(sizeBytes), numberBytes(number), body])
      const ended = await upload(run, number, content, times)
      cutCount += ended
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  return { seconds: (performance.now() - startedMs) / 1_000, cutCount }
}

/** The path of a file in the library. */
export const nameOf = (number: number) => `bench/${number}.wav`

/** Uploads one file, whose connection is cut `times` times. Returns how many connections ended too early. */
async function upload(run: UploadRun, number: number, content: Buffer, times: number): Promise<number> {
  const { baseUrl, apiKey, sizeBytes } = run
  const headers = { ...tus, 'X-API-Key': apiKey }
  const created = await fetch(`${baseUrl}/api/station/1/files/uploads`, {
    method: 'POST',
    headers: {
      ...headers,
      'Upload-Length': String(sizeBytes),
      'Upload-Metadata': `path ${Buffer.from(nameOf(number)).toString('base64')}`
    }
  })
  if (created.status !== 201) throw new Error(`creation: ${created.status} ${await created.text()}`)
  const url = baseUrl + (created.headers.get('location') ?? '')
  for (let cut = 0, attempt = 0; attempt < retries; attempt++) {
    const head = await fetch(url, { method: 'HEAD', headers })
    const offset = Number(head.headers.get('upload-offset'))
    if (head.status === 200 && offset === sizeBytes) return cut
    const isCut = cut < times
    const rest = content.subarray(offset, isCut ? offset + randomInt(1, sizeBytes - offset) : sizeBytes)
    const body = { piece: rest, length: sizeBytes - offset, bytesPerSecond: run.bytesPerSecond }
    const status = await send(url, { ...headers, 'Upload-Offset': String(offset) }, body)
    if (status === 204) return cut
    if (status === null) cut += 1
    // The server may not have seen the end of the last connection yet.
    else if (status !== 423 && status !== 409 && status !== 503) throw new Error(`PATCH: ${status}`)
    await wait(retryMs)
  }
  throw new Error(`file ${number} was not stored after ${retries} attempts`)
}

/** The beginning of a body of `length` bytes, or all of it. */
interface UploadBody {
  readonly piece: Buffer
  readonly length: number
  readonly bytesPerSecond: number | null
}

/** Sends a body; cuts the connection if it is not all. Returns the status, or null without a response. */
function send(url: string, headers: Record<string, string>, { piece, length, bytesPerSecond }: UploadBody) {
  return new Promise<number | null>(resolve => {
    const type = 'application/offset+octet-stream'
    const sent = request(url, {
      method: 'PATCH',
      headers: { ...headers, 'Content-Type': type, 'Content-Length': length },
      timeout: 120_000
    })
    sent.on('response', response => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
      if (piece.length < length) sent.destroy()
    })
    sent.on('error', () => resolve(null))
    sent.on('timeout', () => sent.destroy(new Error('no response')))
    sent.on('close', () => resolve(null))
    if (bytesPerSecond !== null && piece.length === length) void sendSlowly(sent, piece, bytesPerSecond)
    else if (piece.length === length) void sendFast(sent, piece)
    else sent.write(piece, () => sent.destroy())
  })
}

const fastSliceBytes = 64 * 1024

/**
 * Sends a body as fast as possible, but in small pieces: one large write would occupy the core of those that measure.
 */
async function sendFast(sent: ClientRequest, piece: Buffer): Promise<void> {
  function* slices() {
    for (let offset = 0; offset < piece.length; offset += fastSliceBytes)
      yield piece.subarray(offset, offset + fastSliceBytes)
  }
  await pipeline(slices, sent).catch(() => {})
}

const sliceMs = 5

/** Sends a body at a constant rate, as a network does. Errors are those of the request. */
async function sendSlowly(sent: ClientRequest, piece: Buffer, bytesPerSecond: number): Promise<void> {
  const startedMs = performance.now()
  const sliceBytes = Math.ceil((bytesPerSecond * sliceMs) / 1_000)
  async function* slices() {
    for (let offset = 0; offset < piece.length; offset += sliceBytes) {
      yield piece.subarray(offset, offset + sliceBytes)
      await wait(Math.max(0, startedMs + (offset / bytesPerSecond) * 1_000 - performance.now()))
    }
  }
  await pipeline(slices, sent).catch(() => {})
}

/** A header of 16-bit samples in mono at 44.1 kHz. */
function wavHeader(sizeBytes: number): Buffer {
  const header = Buffer.alloc(headerBytes)
  header.write('RIFF', 0)
  header.writeUInt32LE(sizeBytes - 8, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(44_100, 24)
  header.writeUInt32LE(88_200, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(sizeBytes - headerBytes, 40)
  return header
}

/** The bytes that identify a file, behind its header. */
export function numberBytes(number: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(number)
  return bytes
}
