import { renderMoving, renderNowPlaying } from '../../station/now-playing.ts'
import type { StationState } from '../../station/state.ts'
import type { NowPlaying } from '../event.ts'

/** Receivers may count on bodies of this size (Standard Webhooks). */
const longest = 20_480

type Reduction = (body: NowPlaying, excess: number) => NowPlaying

/** What is given up, one after the other, as long as the body is too long by `excess` bytes. */
const reductions: readonly Reduction[] = [
  (body, excess) => ({ ...body, song_history: shortened(body.song_history, excess) }),
  body => ({ ...body, playing_next: body.playing_next && withSong(body.playing_next, { lyrics: '' }) }),
  body => ({ ...body, now_playing: withSong(body.now_playing, { lyrics: '' }) }),
  body => ({
    ...body,
    playing_next: body.playing_next && withSong(body.playing_next, { custom_fields: {} })
  }),
  body => ({ ...body, now_playing: withSong(body.now_playing, { custom_fields: {} }) }),
  body => ({ ...body, station: { ...body.station, description: '' } }),
  (body, excess) => ({
    ...body,
    station: { ...body.station, remotes: shortened(body.station.remotes, excess) }
  }),
  (body, excess) => ({
    ...body,
    station: { ...body.station, mounts: shortened(body.station.mounts, excess) }
  }),
  body => ({ ...body, playing_next: null })
]

/**
 * A now-playing object as JSON of at most 20 KiB: history is left out from its end, then what else may grow
 * without end, beginning with what is missed least. All keys stay.
 */
export function boundedJson(nowPlaying: NowPlaying): string {
  let body = nowPlaying
  for (const reduce of reductions) {
    const excess = bytesOf(body) - longest
    if (excess <= 0) break
    body = reduce(body, excess)
  }
  return JSON.stringify(body)
}

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

/** A list without as many elements from its end as make up so many bytes. */
function shortened<Element>(list: readonly Element[], excess: number): Element[] {
  let kept = list.length
  for (let left = excess; left > 0 && kept > 0; kept--) left -= bytesOf(list[kept - 1]) + 1
  return list.slice(0, kept)
}

function withSong<Item extends { readonly song: object }>(
  item: Item,
  parts: Partial<NowPlaying['now_playing']['song']>
): Item {
  return { ...item, song: { ...item.song, ...parts } }
}

/** Why directories and statistics are told nothing where `playedSong` is null. */
export const silentText = 'Nothing plays.'

/** The song that plays; null where the text for silence stands in its place. */
export function playedSong({ now_playing: { sh_id, song } }: NowPlaying) {
  return sh_id === 0 ? null : song
}

/** The now-playing object as of a fact, in the rendering of events; the same at every attempt. */
export function nowPlayingAt(state: StationState, happenedAtMs: number, baseUrl: string): NowPlaying {
  const document = renderNowPlaying(state, 'event', baseUrl)
  const moving = renderMoving(document, Math.floor(happenedAtMs / 1000))
  return JSON.parse(document.head + moving + document.tail)
}
