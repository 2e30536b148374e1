import * as v from 'valibot'

import type { NowPlaying, Progress } from '../client/interface.ts'
import { isData } from '../client/message.ts'
import { progressAt } from '../client/progress.ts'

/** The list of all stations that may be seen, `api/nowplaying`. */
export const nowPlayingList = v.array(v.custom<NowPlaying>(np => isData({ np })))

/**
 * Where the song of a listed station is, by the time that has passed since the list was read; null where its length is
 * not known, since nothing is said to have elapsed of it.
 */
export function listedProgress(np: NowPlaying, listedAtMs: number): Progress | null {
  const { played_at: playedAt, elapsed, duration } = np.now_playing
  if (duration === 0) return null
  return progressAt(np, (playedAt + elapsed) * 1_000 + Date.now() - listedAtMs)
}

/** The public stations that the server wrote into the page; null where it did not, or they were taken before. */
export function takeShown(): NowPlaying[] | null {
  const element = document.querySelector('#shown')
  element?.remove()
  const { success, output } = v.safeParse(nowPlayingList, JSON.parse(element?.textContent ?? 'null'))
  return success ? output : null
}
