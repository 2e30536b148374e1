/** kbit/s by the four bits of a Layer III header: MPEG 1, then MPEG 2 and 2.5. */
const bitrates = {
  1: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0],
  2: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0]
} as const
const sampleRates = [44_100, 48_000, 32_000, 0] as const
/** MPEG 2.5, reserved, MPEG 2, MPEG 1: the divisor of the sample rate. */
const divisors = [4, 0, 2, 1] as const

/**
 * Tells whether MP3 frames begin somewhere in these bytes: a Layer III header, and two more exactly where the ones
 * before end. Recordings of streams begin in the middle of a frame, which no magic number finds.
 */
export function hasMpegFrames(bytes: Uint8Array): boolean {
  for (let at = bytes.indexOf(0xff); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const second = at + frameLength(bytes, at)
    const third = second + frameLength(bytes, second)
    if (second > at && third > second && frameLength(bytes, third) > 0) return true
  }
  return false
}

/** Length in bytes of the frame that begins here, 0 when none does. */
function frameLength(bytes: Uint8Array, at: number): number {
  const [sync = 0, kind = 0, rates = 0] = bytes.subarray(at, at + 3)
  if (sync !== 0xff || (kind & 0xe6) !== 0xe2) return 0
  const divisor = divisors[(kind >> 3) & 3] ?? 0
  const sampleRate = sampleRates[(rates >> 2) & 3] ?? 0
  const bitrate = bitrates[divisor === 1 ? 1 : 2][rates >> 4] ?? 0
  if (divisor === 0 || sampleRate === 0 || bitrate === 0) return 0
  const bytesPerSecond = bitrate * 125
  const samples = divisor === 1 ? 1_152 : 576
  return Math.floor((samples * bytesPerSecond) / (sampleRate / divisor)) + ((rates >> 1) & 1)
}
