/** What the first block of FLAC says. */
export interface FlacStreamInfo {
  readonly sampleRate: number
  /** 0: unknown, as in files from a pipe. */
  readonly totalSamples: number
  readonly maxBlockSize: number
}

interface FlacFrame {
  /** The first sample. */
  readonly start: number
  readonly end: number
}

const maxFrames = 100_000

/**
 * Finds the end of the last frame in the last bytes of a file, in samples from its start; null if there is none. A
 * frame counts if it follows the one before it, because audio may look like the start of a frame.
 */
export function findLastFlacSample(tail: Uint8Array, info: FlacStreamInfo, isWhole: boolean): number | null {
  let last: number | null = null
  const ends = new Set(isWhole ? [0] : [])
  for (
    let at = tail.indexOf(0xff), count = 0;
    at >= 0 && count < maxFrames;
    at = tail.indexOf(0xff, at + 1)
  ) {
    const frame = readFrame(tail, at, info)
    if (frame === null) continue
    count += 1
    if (ends.has(frame.start)) last = frame.end
    ends.add(frame.end)
  }
  return last
}

/** Reads a frame header, which its checksum confirms; null if there is none. */
function readFrame(bytes: Uint8Array, at: number, info: FlacStreamInfo): FlacFrame | null {
  const [, second = 0, sizes = 0, channels = 0] = bytes.subarray(at, at + 4)
  if ((second & 0xfe) !== 0xf8 || channels & 1 || channels >> 4 > 10) return null
  const sizeCode = sizes >> 4
  const rateCode = sizes & 0xf
  if (sizeCode === 0 || rateCode === 15) return null
  const number = readNumber(bytes, at + 4)
  if (number === null) return null
  let next = at + 4 + number.length
  let blockSize = sizeCode === 1 ? 192 : sizeCode < 6 ? 576 << (sizeCode - 2) : 256 << (sizeCode - 8)
  if (sizeCode === 6 || sizeCode === 7) {
    blockSize = (bytes[next] ?? 0) + 1
    if (sizeCode === 7) blockSize = ((bytes[next] ?? 0) << 8) + (bytes[next + 1] ?? 0) + 1
    next += sizeCode - 5
  }
  next += rateCode === 12 ? 1 : rateCode > 12 ? 2 : 0
  if (next >= bytes.length || checksum(bytes.subarray(at, next)) !== bytes[next]) return null
  const start = second & 1 ? number.value : number.value * info.maxBlockSize
  return { start, end: start + blockSize }
}

/** A number as UTF-8 would encode it, of up to seven bytes. */
function readNumber(bytes: Uint8Array, at: number): { value: number; length: number } | null {
  const first = bytes[at] ?? 0
  const ones = Math.clz32(~(first << 24))
  if (ones === 0) return { value: first, length: 1 }
  if (ones === 1 || ones > 7) return null
  let value = first & (0x7f >> ones)
  for (let index = 1; index < ones; index += 1) {
    const byte = bytes[at + index] ?? 0
    if ((byte & 0xc0) !== 0x80) return null
    value = value * 64 + (byte & 0x3f)
  }
  return { value, length: ones }
}

/** CRC-8 of the polynomial 0x07. */
function checksum(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x80 ? ((crc << 1) ^ 0x07) & 0xff : crc << 1
  }
  return crc
}

/** Reads the block; null if it is malformed. */
export function parseFlacStreamInfo(bytes: Uint8Array): FlacStreamInfo | null {
  if (bytes.length < 34) return null
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const sampleRate = view.getUint32(10) >>> 12
  const totalSamples = (view.getUint8(13) & 0xf) * 2 ** 32 + view.getUint32(14)
  return sampleRate === 0 ? null : { sampleRate, totalSamples, maxBlockSize: view.getUint16(2) }
}
