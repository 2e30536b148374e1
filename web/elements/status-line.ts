import type { Snapshot, Song } from '../client/interface.ts'
import { timeOfDay } from './time-text.ts'

/**
 * What may honestly be said above a song. `kind` is how it looks: `live` is a DJ on the air, `plain` a song,
 * `quiet` a station off the air, `doubt` what may not be true any more. `timeOf` writes times; as the
 * visitor's clock unless told.
 */
export interface StatusLine {
  readonly kind: 'plain' | 'live' | 'quiet' | 'doubt'
  readonly text: string
}

export function statusLineOf(
  { status, reason, np, trueAtMs }: Snapshot,
  timeOf: (unixSeconds: number) => string = seconds => timeOfDay(seconds)
): StatusLine {
  if (status === 'connecting') return { kind: 'quiet', text: 'Connecting' }
  if (reason === 'unknown') return { kind: 'doubt', text: 'This station is not here' }
  if (status === 'offline' || np === null) return { kind: 'doubt', text: 'No connection to the station' }
  if (status === 'stale')
    return { kind: 'doubt', text: `No news since ${timeOf((trueAtMs ?? 0) / 1_000)}, trying again` }
  if (!np.is_online) return { kind: 'quiet', text: 'Off the air' }
  if (np.live.is_live) return { kind: 'live', text: np.live.streamer_name || 'Live' }
  return { kind: 'plain', text: 'Now playing' }
}

/** What a song is called where there is one line for it. */
export const songLine = ({ artist, title, text }: Pick<Song, 'artist' | 'title' | 'text'>) =>
  artist !== '' && title !== '' ? `${artist} – ${title}` : text || title || artist
