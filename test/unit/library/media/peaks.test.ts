import { expect, test } from 'vitest'

import { openPeakCollector, type Waveform } from '../../../../src/library/media/peaks.ts'

const sampleRate = 8_000

/** A tone of 100 Hz with the amplitude of each second. */
function tone(amplitudes: readonly number[]): Float32Array {
  return Float32Array.from(
    { length: amplitudes.length * sampleRate },
    (_, at) =>
      (amplitudes[Math.floor(at / sampleRate)] ?? 0) * Math.sin((2 * Math.PI * 100 * at) / sampleRate)
  )
}

function outline(channels: readonly Float32Array[], chunk = 1_000): Waveform | null {
  const peaks = openPeakCollector()
  const length = channels[0]?.length ?? 0
  for (let at = 0; at < length; at += chunk)
    peaks.add({ sampleRate, channels: channels.map(each => each.subarray(at, at + chunk)) })
  return peaks.finish()
}

const greatest = ({ peaks }: Waveform, from: number, to: number) =>
  Math.max(...peaks.subarray(2 * from, 2 * to).map(Math.abs))

test('a tone, silence and a tone of half the level keep their levels', () => {
  const waveform = outline([tone([1, 0, 0.5])])
  if (waveform === null) throw new Error('no waveform')
  expect(waveform).toMatchObject({ sampleRate, samplesPerPixel: 64 })
  expect(waveform.peaks.length).toBe(2 * Math.ceil((3 * sampleRate) / 64))
  expect(greatest(waveform, 0, 125)).toBe(127)
  expect(greatest(waveform, 126, 250)).toBe(0)
  expect(greatest(waveform, 251, 375)).toBe(64)
})

test('long audio has 1,024 to 2,048 pixels, and the same ones however it is divided', () => {
  const samples = tone(Array.from({ length: 100 }, (_, second) => second / 100))
  const waveform = outline([samples])
  if (waveform === null) throw new Error('no waveform')
  const pixels = waveform.peaks.length / 2
  expect(pixels).toBeGreaterThanOrEqual(1_024)
  expect(pixels).toBeLessThanOrEqual(2_048)
  expect(pixels * waveform.samplesPerPixel).toBeGreaterThanOrEqual(samples.length)
  expect((pixels - 1) * waveform.samplesPerPixel).toBeLessThan(samples.length)
  expect(outline([samples], 77_777)).toEqual(waveform)
})

test('channels in opposite phase do not cancel each other out', () => {
  const left = tone([1])
  const waveform = outline([left, left.map(each => -each)])
  expect([...(waveform?.peaks ?? [])].some(each => Math.abs(each) > 120)).toBe(true)
})

test('without samples there is no waveform, and samples beyond full scale are limited', () => {
  expect(outline([])).toBeNull()
  expect(outline([new Float32Array([3, -3])])?.peaks).toEqual(new Int8Array([-127, 127]))
})
