import type { IPicture } from 'music-metadata'

import type { FileTokenizer } from '../file-tokenizer.ts'
import { decodeLatin1 } from '../tags/id3v2-names.ts'
import { noTagBlock, type TagBlock } from '../tags/native-tags.ts'
import { parseFlacPicture, parseVorbisComments } from '../tags/vorbis-comments.ts'
import type { OggStream } from './ogg-streams.ts'

const maxHeaderBytes = 32 * 1024 * 1024
const maxPackets = 1_000

/** Collects the packets before the audio of the first stream, which contain its tags. */
export class OggHeaders {
  /** Null: no page was added yet. */
  stream: OggStream | null = null
  isComplete = false
  readonly #pictures: IPicture[] = []
  #comments: TagBlock = noTagBlock
  #pieces: Uint8Array[] = []
  #bytes = 0
  #packets = 0

  get tags(): TagBlock {
    return { tags: this.#comments.tags, pictures: [...this.#comments.pictures, ...this.#pictures] }
  }

  /** Adds a page of a stream. Those of other streams than the first are ignored. */
  async add(
    file: FileTokenizer,
    stream: OggStream,
    { segments, bodyAt, end }: { segments: Uint8Array; bodyAt: number; end: number }
  ): Promise<void> {
    this.stream ??= stream
    this.#bytes += end - bodyAt
    if (stream.serial !== this.stream.serial || this.#bytes > maxHeaderBytes) {
      this.isComplete = true
      return
    }
    const body = await file.readAt(bodyAt, end - bodyAt)
    let at = 0
    for (const length of segments) {
      this.#pieces.push(body.subarray(at, at + length))
      at += length
      if (length === 255) continue
      const packet = Buffer.concat(this.#pieces)
      this.#pieces = []
      this.#packets += 1
      if (this.#packets > 1) this.#readPacket(packet, stream.codec)
      if (this.isComplete || this.#packets > maxPackets) break
    }
    this.isComplete ||= this.#packets > maxPackets
  }

  #readPacket(packet: Buffer, codec: OggStream['codec']): void {
    this.isComplete = codec !== 'flac'
    if (codec === 'vorbis' && decodeLatin1(packet.subarray(0, 7)) === '\u0003vorbis')
      this.#comments = parseVorbisComments(packet.subarray(7))
    if (codec === 'opus' && decodeLatin1(packet.subarray(0, 8)) === 'OpusTags')
      this.#comments = parseVorbisComments(packet.subarray(8))
    if (codec === 'speex') this.#comments = parseVorbisComments(packet)
    if (codec !== 'flac') return
    // Each packet is a block of FLAC, up to the first frame.
    const [kind = 0xff] = packet
    this.isComplete = kind >= 0x80
    if (kind === 0xff) return
    if ((kind & 0x7f) === 4) this.#comments = parseVorbisComments(packet.subarray(4))
    const picture =
      (kind & 0x7f) === 6 && this.#pictures.length < 20 ? parseFlacPicture(packet.subarray(4)) : null
    if (picture) this.#pictures.push(picture)
  }
}
