/** Decoded audio: as many samples of each channel, from -1 to 1. */
export interface AudioSamples {
  readonly sampleRate: number
  readonly channels: readonly Float32Array[]
}

/** The outline of a song. */
export interface Waveform {
  readonly sampleRate: number
  readonly samplesPerPixel: number
  /** The least and the greatest sample of each pixel over all channels, from -127 to 127. */
  readonly peaks: Int8Array
}

const maxPixels = 2_048
/** A power of two: short songs have fewer pixels. */
const firstSamplesPerPixel = 64

/**
 * Collects the outline of audio of any length in constant memory: when all pixels are used, pairs of pixels
 * are joined. A long song therefore has 1,024 to 2,048 pixels.
 */
export function openPeakCollector() {
  const least = new Float32Array(maxPixels)
  const greatest = new Float32Array(maxPixels)
  let samplesPerPixel = firstSamplesPerPixel
  let pixels = 0
  /** Samples in the last pixel. */
  let filled = samplesPerPixel
  let sampleRate = 0

  function joinPairs(): void {
    pixels /= 2
    for (let pixel = 0; pixel < pixels; pixel++) {
      least[pixel] = Math.min(least[2 * pixel] ?? 0, least[2 * pixel + 1] ?? 0)
      greatest[pixel] = Math.max(greatest[2 * pixel] ?? 0, greatest[2 * pixel + 1] ?? 0)
    }
    samplesPerPixel *= 2
  }

  /** Starts a pixel if the last one is full. Returns how many samples it still takes. */
  function openPixel(): number {
    if (filled < samplesPerPixel) return samplesPerPixel - filled
    if (pixels === maxPixels) joinPairs()
    least[pixels] = Infinity
    greatest[pixels] = -Infinity
    pixels += 1
    filled = 0
    return samplesPerPixel
  }

  function include(samples: Float32Array, from: number, to: number): void {
    let low = Infinity
    let high = -Infinity
    for (let at = from; at < to; at++) {
      const sample = samples[at] ?? 0
      if (sample < low) low = sample
      if (sample > high) high = sample
    }
    const pixel = pixels - 1
    least[pixel] = Math.min(least[pixel] ?? 0, low)
    greatest[pixel] = Math.max(greatest[pixel] ?? 0, high)
  }

  return {
    add({ sampleRate: rate, channels }: AudioSamples): void {
      if (sampleRate === 0) sampleRate = rate
      const count = channels[0]?.length ?? 0
      for (let at = 0; at < count;) {
        const end = Math.min(count, at + openPixel())
        for (const channel of channels) include(channel, at, end)
        filled += end - at
        at = end
      }
    },
    /** Returns null if there were no samples. */
    finish(): Waveform | null {
      if (pixels === 0) return null
      const peaks = new Int8Array(2 * pixels)
      for (let pixel = 0; pixel < pixels; pixel++) {
        peaks[2 * pixel] = toByte(least[pixel] ?? 0)
        peaks[2 * pixel + 1] = toByte(greatest[pixel] ?? 0)
      }
      return { sampleRate, samplesPerPixel, peaks }
    }
  }
}

const toByte = (sample: number) => Math.round(Math.max(-1, Math.min(1, sample)) * 127)
