import { AbstractTokenizer, EndOfStreamError, type IReadChunkOptions } from 'strtok3'

import { UnusableFileError } from './unusable-file.ts'

/** The content of a file. */
export interface AudioSource {
  readonly size: number
  /** The number of bytes that are read at once. */
  readonly windowBytes: number
  /** Fills `window` from an offset on. Returns the number of bytes. */
  readonly read: (window: Uint8Array, offset: number) => Promise<number>
}

/** Parsers keep a note of each invalid part, and a sparse file can have billions of empty ones. */
const maxReads = 2_000_000
/** For a single tag or picture. */
const maxBufferBytes = 32 * 1024 * 1024

/** Reads a file for music-metadata in windows. Reads after the deadline throw and end parsing. */
export class FileTokenizer extends AbstractTokenizer {
  // Without the path: the content determines the format, so a wrong extension does no harm.
  override fileInfo: { size?: number; mimeType?: string }
  /** In bytes. */
  readonly size: number
  readonly #source: AudioSource
  readonly #deadlineMs: number
  readonly #window: Buffer
  #reads = 0
  #windowStart = 0
  #windowLength = 0

  /** The deadline is a time of `performance.now()`. */
  constructor(source: AudioSource, deadlineMs: number) {
    super({ maxBufferSize: maxBufferBytes })
    const { size, windowBytes } = source
    this.#source = source
    this.#window = Buffer.allocUnsafe(windowBytes)
    this.#deadlineMs = deadlineMs
    this.fileInfo = { size }
    this.size = size
  }

  override async readBuffer(target: Uint8Array, options?: IReadChunkOptions): Promise<number> {
    const count = await this.peekBuffer(target, options)
    this.position = (options?.position ?? this.position) + count
    return count
  }

  override async peekBuffer(target: Uint8Array, options?: IReadChunkOptions): Promise<number> {
    this.#reads += 1
    const isTooLong = this.#reads > maxReads || performance.now() > this.#deadlineMs
    if (isTooLong) throw new UnusableFileError('it takes too long to read')
    const { length, position, mayBeLess } = this.normalizeOptions(target, options)
    let count = 0
    while (count < length) {
      const at = position + count
      let offset = at - this.#windowStart
      if (offset < 0 || offset >= this.#windowLength) {
        this.#windowLength = 0
        const read = await this.#source.read(this.#window, at)
        this.#windowStart = at
        this.#windowLength = read
        if (read === 0) break
        offset = 0
      }
      const end = Math.min(this.#windowLength, offset + length - count)
      target.set(this.#window.subarray(offset, end), count)
      count += end - offset
    }
    if (count < length && !mayBeLess) throw new EndOfStreamError()
    return count
  }

  /** Reads up to `length` bytes from an offset on: fewer at the end of the file. Throws for more than 32 MiB. */
  async readAt(offset: number, length: number): Promise<Buffer> {
    const available = Math.max(0, Math.min(length, this.size - offset))
    if (available > maxBufferBytes) throw new UnusableFileError('one of its tags is larger than 32 MiB')
    const target = Buffer.alloc(available)
    if (available === 0) return target
    const count = await this.peekBuffer(target, { position: offset, mayBeLess: true })
    return target.subarray(0, count)
  }

  override supportsRandomAccess(): boolean {
    return true
  }

  /** Makes the parsers treat the file as a stream of unknown length. */
  hideSize(): void {
    delete this.fileInfo.size
  }

  setPosition(position: number): void {
    this.position = position
  }
}
