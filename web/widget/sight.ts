import type { NowPlaying, Progress } from '../client/interface.ts'
import type { Sound } from '../elements/listening.ts'
import type { Saying } from '../elements/saying.ts'

/** What there is to show, in whatever size. */
export interface Sight {
  readonly np: NowPlaying | null
  readonly saying: Saying
  /** It may not be true any more. */
  readonly isDoubtful: boolean
  readonly progress: Progress | null
  /** The server's clock. */
  readonly nowMs: number
  readonly artOf: (address: string) => string
  readonly sound: Sound
  /** Null where there is nothing to listen to. */
  readonly play: (() => void) | null
  readonly stop: () => void
}
