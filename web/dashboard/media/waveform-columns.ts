import type { GetWaveformAnswer } from '../api/responses.ts'

/** What is drawn of a waveform. */
export type Waveform = Omit<GetWaveformAnswer, 'version' | 'channels'>

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
