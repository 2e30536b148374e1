import type { NowPlaying } from '../../client/interface.ts'
import type { DetailedPlay, PlayedItem } from '../api/responses.ts'
import { isolateBidi } from '../ui/text.ts'

interface PlaySource {
  readonly streamer: string
  readonly playlist: string
  readonly is_request: boolean
  readonly is_visible: boolean
}

/** Whether a row of the history is one that was asked for with `detailed=1`. */
export const isDetailedPlay = (play: PlayedItem | DetailedPlay): play is DetailedPlay => 'is_visible' in play

/** The backends that play what the queue contains. Others report plays of unknown origin. */
const queueBackends = ['clock', 'liquidsoap']

/** Whether the songs of a station come from its queue. */
export const backendPlaysQueue = (backend: string): boolean => queueBackends.includes(backend)

/** Where a play came from. In a station that plays its queue, a play without a playlist was added manually. */
export function describePlaySource(
  { streamer, playlist, is_request: isRequest, is_visible: isVisible }: PlaySource,
  hasQueue: boolean
): string {
  const source = streamer || (isRequest ? 'Request' : playlist || (hasQueue ? 'Manual' : ''))
  return isVisible ? source : `${isolateBidi(source)}, hidden`
}

/** The title of the current song. A jingle before the first song is hidden: it has no title. */
export function currentSongTitle({
  now_playing: { sh_id: shId, song },
  is_online: isOnline
}: NowPlaying): string {
  if (shId === 0 && isOnline) return 'Jingle'
  return song.title || song.text
}
