interface Block {
  readonly playlist_id: number | null
  readonly name: string
  readonly from: number
  readonly until: number
}

/** A silence that begins later than this is not one of now. */
const maxDelaySeconds = 600

/** The first silence of a simulation if it begins within ten minutes; null if there is none. */
export function findSilenceNow({
  blocks,
  from
}: {
  readonly blocks: readonly Block[]
  readonly from: number
}): Block | null {
  const silence = blocks.find(({ playlist_id: id, name }) => id === null && name === 'silence')
  return silence === undefined || silence.from - from > maxDelaySeconds ? null : silence
}
