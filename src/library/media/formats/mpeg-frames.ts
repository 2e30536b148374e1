/** The header of a frame of MPEG 1, 2 or 2.5 audio, Layer I to III. */
export interface MpegFrame {
  /** In bytes. */
  readonly length: number
  readonly samples: number
  readonly sampleRate: number
  /** Where a frame without audio has the number of all frames, from its start on. */
  readonly infoAt: number
}

/** kbit/s by the four bits of a header: MPEG 1, then MPEG 2 and 2.5; each Layer I, II, III. */
const bitrates = {
  1: [
    [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448, 0],
    [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 0],
    [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0]
  ],
  2: [
    [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256, 0],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0]
  ]
} as const
const sampleRates = [44_100, 48_000, 32_000, 0] as const
/** The divisor of the sample rate for MPEG 2.5, reserved, MPEG 2, MPEG 1. */
const divisors = [4, 0, 2, 1] as const

/** Reads the header at an index; null if there is none. */
export function parseMpegFrame(bytes: Uint8Array, at: number): MpegFrame | null {
  const kind = bytes[at + 1] ?? 0
  if (bytes[at] !== 0xff || (kind & 0xe0) !== 0xe0) return null
  const divisor = divisors[(kind >> 3) & 3] ?? 0
  const layer = 4 - ((kind >> 1) & 3)
  const rates = bytes[at + 2] ?? 0
  const sampleRate = sampleRates[(rates >> 2) & 3] ?? 0
  if (divisor === 0 || layer === 4 || sampleRate === 0) return null
  const bitrate = bitrates[divisor === 1 ? 1 : 2][layer - 1]?.[rates >> 4] ?? 0
  if (bitrate === 0) return null
  const padding = (rates >> 1) & 1
  const isHalf = layer === 3 && divisor !== 1
  const samples = layer === 1 ? 384 : isHalf ? 576 : 1_152
  const slots = (samples * bitrate * 125) / (sampleRate / divisor)
  // Layer I counts in slots of four bytes.
  const length = layer === 1 ? (Math.floor(slots / 4) + padding) * 4 : Math.floor(slots) + padding
  const isMono = (bytes[at + 3] ?? 0) >> 6 === 3
  const infoAt = 4 + (divisor === 1 ? (isMono ? 17 : 32) : isMono ? 9 : 17)
  return { length, samples, sampleRate: sampleRate / divisor, infoAt }
}

/**
 * The index of the first of the frames that `areMpegFrames` accepts, or -1. Recordings of streams begin inside a frame.
 */
export function findMpegFrames(bytes: Uint8Array, isEnd = false): number {
  for (let at = bytes.indexOf(0xff); at >= 0; at = bytes.indexOf(0xff, at + 1))
    if (areMpegFrames(bytes, at, isEnd)) return at
  return -1
}

/**
 * Whether three consecutive frames of one kind begin at an index. Where the audio ends with the bytes (`isEnd`), one
 * whole frame or two of which the last may be truncated are enough.
 */
export function areMpegFrames(bytes: Uint8Array, at: number, isEnd = false): boolean {
  let next = at
  for (let count = 0; count < 3; count += 1) {
    if (isEnd && (count === 2 ? next >= bytes.length : count === 1 && next === bytes.length)) return true
    const frame = parseMpegFrame(bytes, next)
    // The version, layer and sample rate of the first.
    const isSame = ((bytes[next + 1] ?? 0) & 0xfe) === ((bytes[at + 1] ?? 0) & 0xfe)
    if (frame === null || !isSame || frame.length < 4) return false
    next += frame.length
  }
  return true
}
