/** What is known of a song; texts are clean and bounded, '' where nothing is known. */
export interface Tags {
  artist: string
  title: string
  album: string
  genre: string
  isrc: string
  lyrics: string
  /** 0 where the length is not known. */
  durationMs: number
}

/** A song as a station's library has it: its key in the station (real path, URL or catalogue name) and its tags. */
export interface Song extends Tags {
  path: string
  /** The key of its cover in the table of artwork. */
  coverHash: string | null
  sizeBytes: number
  modifiedMs: number
}
