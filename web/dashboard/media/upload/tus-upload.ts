/** A request of an upload. `onProgress` gets the bytes of the body that were sent. */
export interface UploadRequest {
  readonly method: 'POST' | 'HEAD' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Blob
  readonly onProgress?: (bytes: number) => void
  readonly signal: AbortSignal
}

/** A response; the status is 0 if the server cannot be reached. */
export interface UploadResponse {
  readonly status: number
  readonly header: (name: string) => string | null
  /** The message of an error. */
  readonly message: string
}

export type SendUploadRequest = (request: UploadRequest) => Promise<UploadResponse>

/** Remembers the addresses of unfinished uploads, so that they continue after the page was reloaded. */
export interface UploadAddresses {
  readonly get: (fingerprint: string) => string | null
  readonly set: (fingerprint: string, url: string) => void
  readonly delete: (fingerprint: string) => void
}

interface UploadErrorOptions {
  /** The same request may succeed later. */
  readonly isTemporary?: boolean
  /** A song has the path. */
  readonly isTaken?: boolean
  /** The same request may succeed after the operator has done something, such as signing in again. */
  readonly canRetry?: boolean
}

/** An upload that failed. */
export class UploadError extends Error {
  readonly isTemporary: boolean
  readonly isTaken: boolean
  readonly canRetry: boolean

  constructor(message: string, { isTemporary = false, isTaken = false, canRetry }: UploadErrorOptions = {}) {
    super(message)
    this.isTemporary = isTemporary
    this.isTaken = isTaken
    this.canRetry = canRetry ?? isTemporary
  }
}

interface UploadOptions {
  /** `https://radio.example.com/api/station/1/files/uploads` */
  readonly endpoint: string
  readonly metadata: Readonly<Record<string, string>>
  readonly fingerprint: string
  readonly send: SendUploadRequest
  readonly addresses: UploadAddresses
  readonly onProgress: (sentBytes: number) => void
  readonly signal: AbortSignal
}

/** A part of a file per request: so much is sent again at most if a proxy forgets what it received. */
const partBytes = 16 * 1024 * 1024
/** The time for a request that creates an upload or ends it. */
const shortTimeoutMs = 30_000
const tusHeaders = { 'Tus-Resumable': '1.0.0' }
/** Statuses after which the same request may succeed: conflicts of offsets, locks, limits. */
const temporaryStatuses = new Set([0, 408, 409, 423, 425, 429, 500, 502, 503, 504])

/**
 * Uploads a file by tus 1.0, from where an earlier attempt ended. Returns what the server says about the stored file;
 * empty if nothing. Throws an `UploadError`, or the reason of `signal`.
 */
export async function uploadFile(file: File, options: UploadOptions): Promise<string> {
  const { addresses, fingerprint, onProgress, signal } = options
  const known = addresses.get(fingerprint)
  let url = known
  let offset = url === null ? null : await findOffset(url, options)
  if (url === null || offset === null) {
    url = await createUpload(file, options)
    addresses.set(fingerprint, url)
    signal.throwIfAborted()
    offset = 0
  }
  onProgress(offset)
  // An upload of which everything was received before is asked for its result by an empty part.
  let notice: string
  do ({ offset, notice } = await sendPart(file, url, offset, options))
  while (offset < file.size)
  addresses.delete(fingerprint)
  return notice
}

/** Removes what was received of an upload. */
export async function discardUpload(
  options: Pick<UploadOptions, 'addresses' | 'fingerprint' | 'send'>
): Promise<void> {
  const { addresses, fingerprint, send } = options
  const signal = AbortSignal.timeout(shortTimeoutMs)
  const url = addresses.get(fingerprint)
  addresses.delete(fingerprint)
  if (url !== null) await send({ method: 'DELETE', url, headers: tusHeaders, signal })
}

/**
 * Returns the address of a new upload. Not cut off by the signal of the upload: without the address it could not
 * be ended, and its room would remain reserved.
 */
async function createUpload(
  file: File,
  { endpoint, metadata, send, signal }: UploadOptions
): Promise<string> {
  signal.throwIfAborted()
  const headers = {
    ...tusHeaders,
    'Upload-Length': String(file.size),
    'Upload-Metadata': renderUploadMetadata(metadata)
  }
  const response = await send({
    method: 'POST',
    url: endpoint,
    headers,
    signal: AbortSignal.timeout(shortTimeoutMs)
  })
  const location = response.header('Location')
  if (response.status === 409) throw new UploadError(response.message, { isTaken: true })
  if (response.status !== 201 || location === null) throw toError(response)
  return new URL(location, endpoint).href
}

/** Returns how much the server has received; null if it has forgotten the upload. */
async function findOffset(url: string, { send, signal }: UploadOptions): Promise<number | null> {
  const response = await send({ method: 'HEAD', url, headers: tusHeaders, signal })
  if (response.status >= 200 && response.status < 300) return parseOffset(response)
  if (temporaryStatuses.has(response.status)) throw toError(response)
  return null
}

/** Returns how much the server has received then, and what it says about a file that was stored. */
async function sendPart(
  file: File,
  url: string,
  offset: number,
  options: UploadOptions
): Promise<{ readonly offset: number; readonly notice: string }> {
  const { send, signal, onProgress, addresses, fingerprint } = options
  const response = await send({
    method: 'PATCH',
    url,
    headers: {
      ...tusHeaders,
      'Upload-Offset': String(offset),
      'Content-Type': 'application/offset+octet-stream'
    },
    body: file.slice(offset, offset + partBytes),
    onProgress: bytes => onProgress(offset + bytes),
    signal
  })
  if (response.status !== 204) {
    const error = toError(response)
    if (!error.isTemporary) addresses.delete(fingerprint)
    throw error
  }
  const next = parseOffset(response)
  if (next <= offset && offset < file.size)
    throw new UploadError('The server received nothing.', { isTemporary: true })
  onProgress(next)
  return { offset: next, notice: response.header('Cuewire-Notice') ?? '' }
}

function parseOffset(response: UploadResponse): number {
  const offset = Number(response.header('Upload-Offset') ?? NaN)
  if (!Number.isSafeInteger(offset) || offset < 0)
    throw new UploadError('The server returned an unexpected response.', { canRetry: true })
  return offset
}

function toError({ status, message }: UploadResponse): UploadError {
  const isTemporary = temporaryStatuses.has(status)
  return new UploadError(message, { isTemporary, canRetry: isTemporary || status === 401 || status === 403 })
}

/** Renders pairs of a key and a value in base64 of UTF-8. */
export const renderUploadMetadata = (metadata: Readonly<Record<string, string>>): string =>
  Object.entries(metadata)
    .filter(([, value]) => value !== '')
    .map(([key, value]) => `${key} ${toBase64(value)}`)
    .join(',')

const toBase64 = (text: string) => btoa(String.fromCodePoint(...new TextEncoder().encode(text)))
