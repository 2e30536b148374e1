import type { GetWaveformAnswer } from '../api/responses.ts'

/** What is drawn of a waveform. */
export type WaveformPixels = Omit<GetWaveformAnswer, 'version' | 'channels'>

/** The length of the audio in seconds. */
export const waveformSeconds = ({
  length,
  samples_per_pixel: samples,
  sample_rate: rate
}: WaveformPixels): number => (length * samples) / rate

/** Joins or repeats pixels so that there are `columns` pairs of the least and the greatest sample. */
export function fitWaveformToColumns(
  { data, length }: WaveformPixels,
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
