import type { Beginning } from '../autodj/simulate.ts'

/** A station that is to be simulated. */
export interface SimulatedStation {
  readonly name: string
  /** Its time zone is that of the library's rules. */
  readonly beginning: Beginning
  /** How a song is called, for people. */
  readonly songName: (mediaId: number | null) => string
}
