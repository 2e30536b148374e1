import { expect, test } from 'vitest'

import {
  discardUpload,
  renderUploadMetadata,
  type SendUploadRequest,
  UploadError,
  type UploadRequest,
  uploadFile
} from '../../../../../web/dashboard/media/upload/tus-upload.ts'
import {
  openUploadQueue,
  type PickedFile,
  summarizeUploads
} from '../../../../../web/dashboard/media/upload/upload-queue.ts'

const endpoint = 'https://radio.example.com/api/station/1/files/uploads'

interface Script {
  /** Bytes of the next parts that arrive before the connection breaks; null: all. */
  readonly cuts?: (number | null)[]
  readonly refuse?: { readonly status: number; readonly message: string }
}

/** A server that keeps uploads in memory. */
function scriptedServer({ cuts = [], refuse }: Script = {}) {
  const uploads = new Map<string, { length: number; received: number }>()
  const requests: string[] = []
  const reply = (status: number, headers: Record<string, string> = {}, message = '') => ({
    status,
    header: (name: string) => headers[name] ?? null,
    message
  })
  const send: SendUploadRequest = async ({ method, url, headers, body, onProgress }: UploadRequest) => {
    requests.push(method)
    if (method === 'POST') {
      const path = `/api/station/1/files/uploads/${uploads.size + 1}`
      uploads.set(new URL(path, endpoint).href, { length: Number(headers['Upload-Length']), received: 0 })
      return reply(201, { Location: path })
    }
    const upload = uploads.get(url)
    if (upload === undefined) return reply(404, {}, 'Record not found.')
    if (method === 'DELETE') return reply(uploads.delete(url) ? 204 : 404)
    if (method === 'HEAD') return reply(200, { 'Upload-Offset': String(upload.received) })
    if (Number(headers['Upload-Offset']) !== upload.received) return reply(409, {}, 'Wrong offset.')
    if (refuse !== undefined) return reply(refuse.status, {}, refuse.message)
    const cut = cuts.shift() ?? null
    const arrived = cut ?? body?.size ?? 0
    upload.received += arrived
    onProgress?.(arrived)
    return cut === null
      ? reply(204, { 'Upload-Offset': String(upload.received) })
      : reply(0, {}, 'The server cannot be reached.')
  }
  return { send, uploads, requests }
}

function memoryAddresses() {
  const stored = new Map<string, string>()
  return {
    stored,
    get: (fingerprint: string) => stored.get(fingerprint) ?? null,
    set: (fingerprint: string, url: string) => void stored.set(fingerprint, url),
    delete: (fingerprint: string) => void stored.delete(fingerprint)
  }
}

const { signal } = new AbortController()
const song = new File([new Uint8Array(1_000)], 'Song.mp3')

test('an interrupted upload continues where the server is', async () => {
  const server = scriptedServer({ cuts: [400, 100] })
  const addresses = memoryAddresses()
  const seen: number[] = []
  const run = () =>
    uploadFile(song, {
      endpoint,
      metadata: { path: 'Song.mp3' },
      fingerprint: 'one',
      send: server.send,
      addresses,
      onProgress: bytes => seen.push(bytes),
      signal
    })
  await expect(run()).rejects.toMatchObject({ isTemporary: true })
  await expect(run()).rejects.toMatchObject({ isTemporary: true })
  await run()
  expect(server.requests).toEqual(['POST', 'PATCH', 'HEAD', 'PATCH', 'HEAD', 'PATCH'])
  expect(seen.at(-1)).toBe(1_000)
  expect(addresses.stored.size).toBe(0)
  expect([...server.uploads.values()]).toEqual([{ length: 1_000, received: 1_000 }])
})

test('an upload that the server forgot starts again, and a refused one is not continued', async () => {
  const server = scriptedServer()
  const addresses = memoryAddresses()
  addresses.set('one', `${endpoint}/expired`)
  const options = { endpoint, metadata: {}, fingerprint: 'one', addresses, onProgress: () => {}, signal }
  await uploadFile(song, { ...options, send: server.send })
  expect(server.requests).toEqual(['HEAD', 'POST', 'PATCH'])
  const refusing = scriptedServer({ refuse: { status: 400, message: 'The file is not audio.' } })
  await expect(uploadFile(song, { ...options, send: refusing.send })).rejects.toEqual(
    new UploadError('The file is not audio.')
  )
  expect(addresses.stored.size).toBe(0)
})

test('a discarded upload is removed from the server', async () => {
  const server = scriptedServer({ cuts: [10] })
  const addresses = memoryAddresses()
  const options = { fingerprint: 'one', addresses, send: server.send }
  await uploadFile(song, { ...options, endpoint, metadata: {}, onProgress: () => {}, signal }).catch(() => {})
  expect(server.uploads.size).toBe(1)
  await discardUpload(options)
  expect([server.uploads.size, addresses.stored.size]).toEqual([0, 0])
})

test('a file that is canceled or paused while it is being created leaves no upload behind', async () => {
  const server = scriptedServer()
  const addresses = memoryAddresses()
  const created: (() => void)[] = []
  const send: SendUploadRequest = async request => {
    const response = await server.send(request)
    if (request.method === 'POST') await new Promise<void>(resolve => created.push(resolve))
    request.signal.throwIfAborted()
    return response
  }
  const queue = openUploadQueue({
    upload: ({ file, path }, onProgress, uploadSignal) =>
      uploadFile(file, {
        endpoint,
        metadata: { path },
        fingerprint: path,
        send,
        addresses,
        onProgress,
        signal: uploadSignal
      }),
    discard: ({ path }) => discardUpload({ fingerprint: path, addresses, send }),
    onChange: () => {}
  })
  queue.add(pick(2))
  await expect.poll(() => created.length).toBe(2)
  const canceled = queue.cancel(1)
  queue.pause(2)
  queue.resume(2)
  for (const respond of created) respond()
  await canceled
  await expect.poll(() => queue.items.map(({ state }) => state)).toEqual(['done'])
  expect(server.requests).toEqual(['POST', 'POST', 'DELETE', 'HEAD', 'PATCH'])
  expect([...server.uploads.values()]).toEqual([{ length: 1_000, received: 1_000 }])
})

test('metadata are base64 of UTF-8', () => {
  expect(renderUploadMetadata({ path: 'Müsik/é.mp3', directory: '' })).toBe('path TcO8c2lrL8OpLm1wMw==')
})

/** A queue whose uploads end when the test says so. */
function openControlledQueue() {
  const running = new Map<string, { end: (error?: Error) => void; signal: AbortSignal }>()
  const discarded: string[] = []
  const delayed: { ms: number; callback: () => void }[] = []
  const queue = openUploadQueue({
    upload: ({ path }, onProgress, uploadSignal) =>
      new Promise((resolve, reject) => {
        onProgress(1)
        uploadSignal.addEventListener('abort', () => reject(uploadSignal.reason))
        running.set(path, {
          signal: uploadSignal,
          end: error => {
            running.delete(path)
            if (error) reject(error)
            else resolve('')
          }
        })
      }),
    discard: async ({ path }) => void discarded.push(path),
    onChange: () => {},
    delay: (ms, callback) => void delayed.push({ ms, callback })
  })
  const states = () => queue.items.map(({ state }) => state)
  const settle = () => new Promise<void>(resolve => setImmediate(resolve))
  return { queue, running, discarded, delayed, states, settle }
}

const pick = (count: number): PickedFile[] =>
  Array.from({ length: count }, (_, index) => ({ file: song, path: `${index}.mp3` }))

test('three files are uploaded at a time, and a path is not queued twice', async () => {
  const { queue, running, states, settle } = openControlledQueue()
  expect(queue.add(pick(5))).toEqual([])
  expect(queue.add(pick(1)).map(({ path }) => path)).toEqual(['0.mp3'])
  expect(states()).toEqual(['uploading', 'uploading', 'uploading', 'waiting', 'waiting'])
  running.get('1.mp3')?.end()
  await settle()
  expect(states()).toEqual(['uploading', 'done', 'uploading', 'uploading', 'waiting'])
})

test('a paused file makes room for the next, and a resumed one waits for its turn', async () => {
  const { queue, running, states, settle } = openControlledQueue()
  queue.add(pick(4))
  const first = running.get('0.mp3')
  queue.pause(1)
  await settle()
  expect(first?.signal.aborted).toBe(true)
  expect(states()).toEqual(['paused', 'uploading', 'uploading', 'uploading'])
  queue.resume(1)
  expect(states()).toEqual(['waiting', 'uploading', 'uploading', 'uploading'])
  running.get('3.mp3')?.end()
  await settle()
  expect(states()).toEqual(['uploading', 'uploading', 'uploading', 'done'])
})

test('all files are paused without starting the waiting ones', async () => {
  const { queue, running, states, settle } = openControlledQueue()
  queue.add(pick(5))
  queue.pauseAll()
  await settle()
  expect(states()).toEqual(['paused', 'paused', 'paused', 'paused', 'paused'])
  expect([...running.keys()]).toEqual(['0.mp3', '1.mp3', '2.mp3'])
  queue.resumeAll()
  expect(states()).toEqual(['uploading', 'uploading', 'uploading', 'waiting', 'waiting'])
})

test('temporary errors are tried again later each time, permanent ones are shown', async () => {
  const { queue, running, delayed, states, settle } = openControlledQueue()
  queue.add(pick(2))
  running.get('0.mp3')?.end(new UploadError('The file is not audio.'))
  running.get('1.mp3')?.end(new UploadError('The server cannot be reached.', { isTemporary: true }))
  await settle()
  expect(states()).toEqual(['failed', 'retrying'])
  expect(queue.items[0]?.message).toBe('The file is not audio.')
  expect(delayed[0]?.ms).toBeLessThan(1_300)
  delayed[0]?.callback()
  expect(states()).toEqual(['failed', 'uploading'])
  // A file of a wrong type would fail again.
  queue.resume(1)
  expect(states()).toEqual(['failed', 'uploading'])
  running.get('1.mp3')?.end(new UploadError('You do not have permission to do that.', { canRetry: true }))
  await settle()
  expect([states(), summarizeUploads(queue.items).resumable]).toEqual([['failed', 'failed'], 1])
  queue.resumeAll()
  expect(states()).toEqual(['failed', 'uploading'])
})

test('a canceled file is removed here and on the server', async () => {
  const { queue, discarded, states, settle } = openControlledQueue()
  queue.add(pick(1))
  expect(queue.isActive).toBe(true)
  await queue.cancel(1)
  await settle()
  expect([states(), discarded, queue.isActive]).toEqual([[], ['0.mp3'], false])
})
