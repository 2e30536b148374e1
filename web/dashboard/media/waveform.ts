import { ApiRequestError } from '../api/api-error.ts'
import { requestApiFile } from '../api/call-api.ts'
import { fitWaveformToColumns, type WaveformPixels } from './waveform-columns.ts'

const maxAttempts = 300
const defaultPauseMs = 1_000

/** Loads a waveform, and waits while the server makes it. Throws an `ApiRequestError`, or the reason of `signal`. */
export async function loadWaveform(path: string, signal: AbortSignal): Promise<WaveformPixels> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const response = await requestApiFile(path, { signal })
    signal.throwIfAborted()
    if (response.status === 200) return response.json()
    const seconds = Number(response.headers.get('Retry-After'))
    await pause(seconds > 0 ? seconds * 1_000 : defaultPauseMs, signal)
  }
  throw new ApiRequestError('The waveform was not made in time.')
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

/** Draws a waveform over the whole canvas, in its text color. */
export function drawWaveform(canvas: HTMLCanvasElement, waveform: WaveformPixels): void {
  const context = canvas.getContext('2d')
  if (context === null) return
  const { clientWidth, clientHeight } = canvas
  const scale = devicePixelRatio
  canvas.width = Math.round(clientWidth * scale)
  canvas.height = Math.round(clientHeight * scale)
  context.fillStyle = getComputedStyle(canvas).color
  const middle = canvas.height / 2
  for (const [column, [least, greatest]] of fitWaveformToColumns(waveform, canvas.width).entries()) {
    const top = middle - (greatest / 128) * middle
    const bottom = middle - (least / 128) * middle
    context.fillRect(column, top, 1, Math.max(1, bottom - top))
  }
}
