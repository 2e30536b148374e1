import * as v from 'valibot'

/** `api/station/{id}/waveform/{media id}.json` */
export const waveformSchema = v.object({
  sample_rate: v.number(),
  samples_per_pixel: v.number(),
  bits: v.literal(8),
  length: v.number(),
  data: v.array(v.number())
})
export type Waveform = v.InferOutput<typeof waveformSchema>

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
