/** What this program reads of a file. */
export interface Reading {
  readonly error: string
  readonly title: string
  readonly artist: string
  readonly artists: readonly string[]
  readonly album: string
  readonly genre: string
  readonly lyrics: string
  readonly durationMs: number
  readonly cues: { readonly amplifyDb: number | null }
  readonly tags: ReadonlyMap<string, string>
  readonly cover: { readonly bytes: Uint8Array } | null
}

/** What a file of the corpus contains; an absent value is not compared. */
export interface Expected {
  readonly title?: string
  readonly artist?: string
  readonly artists?: readonly string[]
  readonly album?: string
  readonly genre?: string
  readonly lyrics?: string
  readonly gain?: number | null
  /** The size of the cover in bytes. */
  readonly picture?: number
  readonly tags?: Readonly<Record<string, string>>
  readonly seconds?: number
}

/** Encoders add up to this at both ends of the audio, which decoders drop or not. */
const toleranceSeconds = 0.15

/** Finds what is read differently than expected, in words. */
export function findDifferences(reading: Reading, expected: Expected): string[] {
  if (reading.error !== '') return [`error: ${reading.error}`]
  const found: string[] = []
  const add = (name: string, value: unknown, wanted: unknown) => {
    if (wanted !== undefined && JSON.stringify(value) !== JSON.stringify(wanted))
      found.push(`${name} ${JSON.stringify(value)}, not ${JSON.stringify(wanted)}`)
  }
  const { artists = expected.artist === undefined ? undefined : [] } = expected
  add('artists', reading.artists, artists)
  for (const name of ['title', 'artist', 'album', 'genre', 'lyrics'] as const)
    add(name, reading[name], expected[name])
  add('gain', reading.cues.amplifyDb, expected.gain)
  add('picture', reading.cover?.bytes.length ?? 0, expected.picture)
  for (const [name, value] of Object.entries(expected.tags ?? {}))
    add(`tag ${name}`, reading.tags.get(name), value)
  const { seconds = reading.durationMs / 1_000 } = expected
  if (Math.abs(reading.durationMs / 1_000 - seconds) > toleranceSeconds)
    found.push(`${reading.durationMs / 1_000} s, not ${seconds} s`)
  return found
}
