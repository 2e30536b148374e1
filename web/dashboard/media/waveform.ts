import * as v from 'valibot'

import { ApiError } from '../api/api-error.ts'
import { requestFile } from './media-request.ts'

/** `api/station/{id}/waveform/{media id}.json` */
const waveformSchema = v.object({
  sample_rate: v.number(),
  samples_per_pixel: v.number(),
  bits: v.literal(8),
  length: v.number(),
  data: v.array(v.number())
})
export type Waveform = v.InferOutput<typeof waveformSchema>

const maxAttempts = 300
const defaultPauseMs = 1_000

/** Loads a waveform, and waits while the server makes it. Throws an `ApiError`, or the reason of `signal`. */
export async function loadWaveform(path: string, signal: AbortSignal): Promise<Waveform> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const response = await requestFile(path, { signal })
    signal.throwIfAborted()
    if (response.status === 200) {
      const parsed = v.safeParse(waveformSchema, await response.json())
      if (parsed.success) return parsed.output
      throw new ApiError('The server returned an unexpected response.')
    }
    const seconds = Number(response.headers.get('Retry-After'))
    await pause(seconds > 0 ? seconds * 1_000 : defaultPauseMs, signal)
  }
  throw new ApiError('The waveform was not made in time.')
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer)
        reject(signal.reason)
      },
      { once: true }
    )
  })
}

/** The length of the audio in seconds. */
export const durationOf = ({ length, samples_per_pixel: samples, sample_rate: rate }: Waveform): number =>
  (length * samples) / rate

/** Joins or repeats pixels so that there are `columns` pairs of the least and the greatest sample. */
export function fitToColumns(
  { data, length }: Waveform,
  columns: number
): [least: number, greatest: number][] {
  return Array.from({ length: columns }, (_, column) => {
    const first = Math.floor((column * length) / columns)
    const end = Math.max(first + 1, Math.floor(((column + 1) * length) / columns))
    let [least, greatest] = [127, -128]
    for (let pixel = first; pixel < end; pixel++) {
      least = Math.min(least, data[2 * pixel] ?? 0)
      greatest = Math.max(greatest, data[2 * pixel + 1] ?? 0)
    }
    return [least, greatest]
  })
}

/** Draws a waveform over the whole canvas, in its text color. */
export function drawWaveform(canvas: HTMLCanvasElement, waveform: Waveform): void {
  const context = canvas.getContext('2d')
  if (context === null) return
  const { clientWidth, clientHeight } = canvas
  const scale = devicePixelRatio
  canvas.width = Math.round(clientWidth * scale)
  canvas.height = Math.round(clientHeight * scale)
  context.fillStyle = getComputedStyle(canvas).color
  const middle = canvas.height / 2
  for (const [column, [least, greatest]] of fitToColumns(waveform, canvas.width).entries()) {
    const top = middle - (greatest / 128) * middle
    const bottom = middle - (least / 128) * middle
    context.fillRect(column, top, 1, Math.max(1, bottom - top))
  }
}
