import type { FileHandle } from 'node:fs/promises'

import { AbstractTokenizer, EndOfStreamError, type IReadChunkOptions } from 'strtok3'

import { NotRegularFileError, openInside, OutsideRootsError } from '../runtime/contained-files.ts'

/** Why one file cannot be used, as a sentence about it ("it is empty"). It costs that file only. */
export class UnusableFile extends Error {}

const windowBytes = 64 * 1024
/** Parsers note each odd part they skip, and billions of empty ones fit in a sparse file. */
const maxReads = 2_000_000
/** No single tag or picture may take more memory than this. */
const maxBufferBytes = 32 * 1024 * 1024

/** The reason for a file that leads out of the folders of an import. */
export const outsideReason =
  'it leads out of the folders of this import (name its folder as a PATH, or with --allow)'

function asUnusable(error: unknown): never {
  if (error instanceof OutsideRootsError) throw new UnusableFile(outsideReason)
  if (error instanceof NotRegularFileError) throw new UnusableFile('it is not a regular file')
  throw error
}

/**
 * A file as music-metadata reads it, through a window of 64 KiB: the parsers ask for a few bytes at a time,
 * and a file without a length in its header has to be walked from end to end. Reads fail once the deadline is
 * past, which is what ends a parse that gets nowhere.
 */
export class FileTokenizer extends AbstractTokenizer {
  // No path in it: the format is told by the content, a wrong extension does no harm.
  override fileInfo: { size?: number; mimeType?: string }
  /** In bytes. */
  readonly size: number
  readonly #handle: FileHandle
  readonly #deadlineMs: number
  readonly #window = Buffer.allocUnsafe(windowBytes)
  #reads = 0
  #windowStart = 0
  #windowLength = 0

  private constructor(handle: FileHandle, size: number, deadlineMs: number) {
    super({ maxBufferSize: maxBufferBytes })
    this.#handle = handle
    this.#deadlineMs = deadlineMs
    this.fileInfo = { size }
    this.size = size
  }

  /**
   * Opens a regular file that lies inside one of `realRoots`; anything else (a FIFO or a link that took its
   * place meanwhile) is refused without waiting. The deadline is a moment of `performance.now()`.
   */
  static async open(path: string, realRoots: readonly string[], deadlineMs: number): Promise<FileTokenizer> {
    const handle = await openInside(path, realRoots).catch(asUnusable)
    const { size } = await handle.stat()
    return new FileTokenizer(handle, size, deadlineMs)
  }

  override async readBuffer(target: Uint8Array, options?: IReadChunkOptions): Promise<number> {
    const count = await this.peekBuffer(target, options)
    this.position = (options?.position ?? this.position) + count
    return count
  }

  override async peekBuffer(target: Uint8Array, options?: IReadChunkOptions): Promise<number> {
    this.#reads += 1
    const isTooLong = this.#reads > maxReads || performance.now() > this.#deadlineMs
    if (isTooLong) throw new UnusableFile('it takes too long to read')
    const { length, position, mayBeLess } = this.normalizeOptions(target, options)
    let count = 0
    while (count < length) {
      const at = position + count
      let offset = at - this.#windowStart
      if (offset < 0 || offset >= this.#windowLength) {
        await this.#fill(at)
        if (this.#windowLength === 0) break
        offset = 0
      }
      const end = Math.min(this.#windowLength, offset + length - count)
      target.set(this.#window.subarray(offset, end), count)
      count += end - offset
    }
    if (count < length && !mayBeLess) throw new EndOfStreamError()
    return count
  }

  async #fill(position: number): Promise<void> {
    this.#windowLength = 0
    const { bytesRead } = await this.#handle.read(this.#window, 0, windowBytes, position)
    this.#windowStart = position
    this.#windowLength = bytesRead
  }

  override supportsRandomAccess(): boolean {
    return true
  }

  /** From now on this is a stream of unknown length to the parsers. */
  hideSize(): void {
    delete this.fileInfo.size
  }

  setPosition(position: number): void {
    this.position = position
  }

  protected override async closeOnce(): Promise<void> {
    await super.closeOnce()
    await this.#handle.close()
  }
}
