import type { Snapshot, Song } from '../client/interface.ts'
import { formatTimeOfDay } from './time-text.ts'

/** The line above a song: a live DJ, a song, a station that is off the air, or a warning. */
export interface StationLine {
  readonly kind: 'plain' | 'live' | 'quiet' | 'warning'
  readonly text: string
}

/** Describes the state of a station. `formatTime` formats Unix seconds; by default in the visitor's zone. */
export function describeStationStatus(
  { status, reason, np, trueAtMs }: Snapshot,
  formatTime: (unixSeconds: number) => string = formatTimeOfDay
): StationLine {
  if (status === 'connecting') return { kind: 'quiet', text: 'Connecting' }
  if (reason === 'unknown') return { kind: 'warning', text: 'No such station' }
  if (status === 'offline' || np === null) return { kind: 'warning', text: 'No connection to the station' }
  if (status === 'stale')
    return { kind: 'warning', text: `No update since ${formatTime((trueAtMs ?? 0) / 1_000)}, retrying` }
  if (!np.is_online) return { kind: 'quiet', text: 'Off the air' }
  if (np.live.is_live) return { kind: 'live', text: np.live.streamer_name || 'Live' }
  return { kind: 'plain', text: 'Now playing' }
}

/** A song in one line. */
export const formatSong = ({ artist, title, text }: Pick<Song, 'artist' | 'title' | 'text'>) =>
  artist !== '' && title !== '' ? `${artist} – ${title}` : text || title || artist
