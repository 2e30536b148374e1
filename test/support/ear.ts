import type { Page } from 'playwright-core'

/** What is heard or shown in a page, and since when, in milliseconds of the page's clock. */
export interface Moment {
  readonly value: string
  readonly atMs: number
}

/** What a page has shown and its sound was, in order. */
export interface EarReport {
  /** The loudest frequency, rounded to 100 Hz; `silence` below -60 dB. */
  readonly heard: readonly Moment[]
  /** The line above the title and the title: `Now playing|Tone 500`. */
  readonly shown: readonly Moment[]
}

/** Samples of the sound are taken this often; a frequency wins when it fills half of the window of the analyser. */
const sampleMs = 20
const fftSize = 4_096
const sampleRate = 44_100
const windowMs = (fftSize / sampleRate) * 1_000

/** Runs in the page before its own scripts. The page creates its audio element with `new Audio()`. */
const recorder = `(() => {
  const heard = []
  const shown = []
  const note = (moments, value) => {
    if (moments.at(-1)?.value !== value) moments.push({ value, atMs: performance.now() })
  }
  const NativeAudio = window.Audio
  let audio
  window.Audio = function () {
    audio = new NativeAudio()
    audio.crossOrigin = 'anonymous'
    return audio
  }
  const show = () => {
    const text = selector => document.querySelector(selector)?.textContent.trim() ?? ''
    note(shown, text('.eyebrow-text') + '|' + text('.title'))
  }
  new MutationObserver(show).observe(document, { subtree: true, childList: true, characterData: true })
  window.startEar = () => {
    const context = new AudioContext({ sampleRate: ${sampleRate} })
    const analyser = context.createAnalyser()
    analyser.fftSize = ${fftSize}
    analyser.smoothingTimeConstant = 0
    context.createMediaElementSource(audio).connect(analyser)
    analyser.connect(context.destination)
    const bins = new Float32Array(analyser.frequencyBinCount)
    setInterval(() => {
      analyser.getFloatFrequencyData(bins)
      let peak = 0
      for (let bin = 1; bin < bins.length; bin++) if (bins[bin] > bins[peak]) peak = bin
      const hertz = Math.round((peak * ${sampleRate}) / ${fftSize} / 100) * 100
      note(heard, bins[peak] < -60 ? 'silence' : String(hertz))
    }, ${sampleMs})
  }
  window.ear = { heard, shown }
})()`

/** Records what the page shows and sounds like; before the page is loaded. */
export async function prepareEar(page: Page): Promise<void> {
  await page.addInitScript({ content: recorder })
}

/** Connects the analyser. The page must have created its audio element. */
export const startEar = (page: Page) => page.evaluate('window.startEar()')

export async function readEar(page: Page): Promise<EarReport> {
  return page.evaluate<EarReport>('window.ear')
}

/**
 * Frequencies that were heard for `leastMs` or longer, with the times at which they began. A sound that goes on after
 * silence, because the player had to buffer, is the same one.
 */
export function stableSounds({ heard }: EarReport, leastMs: number): readonly Moment[] {
  return heard
    .filter(({ atMs }, index) => (heard[index + 1]?.atMs ?? Infinity) - atMs >= leastMs)
    .filter(({ value }) => value !== 'silence')
    .filter(({ value }, index, stable) => value !== stable[index - 1]?.value)
    .map(({ value, atMs }) => ({ value, atMs: atMs - windowMs / 2 }))
}

/** A tone as a WAV file: mono, 16 bits, 44.1 kHz, at half of the full scale. */
export function renderTone(hertz: number, seconds: number): Buffer {
  const samples = Math.round(seconds * sampleRate)
  const file = Buffer.alloc(44 + 2 * samples)
  file.write('RIFF', 0)
  file.writeUInt32LE(36 + 2 * samples, 4)
  file.write('WAVEfmt ', 8)
  file.writeUInt32LE(16, 16)
  file.writeUInt16LE(1, 20)
  file.writeUInt16LE(1, 22)
  file.writeUInt32LE(sampleRate, 24)
  file.writeUInt32LE(2 * sampleRate, 28)
  file.writeUInt16LE(2, 32)
  file.writeUInt16LE(16, 34)
  file.write('data', 36)
  file.writeUInt32LE(2 * samples, 40)
  for (let index = 0; index < samples; index++)
    file.writeInt16LE(
      Math.round(16_000 * Math.sin((2 * Math.PI * hertz * index) / sampleRate)),
      44 + 2 * index
    )
  return file
}
