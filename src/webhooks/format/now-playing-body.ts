import { renderElapsed } from '../../model/station/now-playing.ts'
import type { StationRenderer } from '../../model/station/renderer.ts'
import type { StationState } from '../../model/station/state.ts'
import type { EventNowPlaying } from '../hook-event.ts'

/** The size of bodies that Standard Webhooks allows. */
const maxBytes = 20_480

type Reduction = (body: EventNowPlaying, excess: number) => EventNowPlaying

/** What is left out, in this order, while the body is too long by `excess` bytes. */
const reductions: readonly Reduction[] = [
  (body, excess) => ({ ...body, song_history: shorten(body.song_history, excess) }),
  body => changeNext(body, { lyrics: '' }),
  body => ({ ...body, now_playing: changeSong(body.now_playing, { lyrics: '' }) }),
  body => changeNext(body, { custom_fields: {} }),
  body => ({ ...body, now_playing: changeSong(body.now_playing, { custom_fields: {} }) }),
  body => withStation(body, { description: '' }),
  (body, excess) => withStation(body, { remotes: shorten(body.station.remotes, excess) }),
  (body, excess) => withStation(body, { mounts: shorten(body.station.mounts, excess) }),
  body => ({ ...body, playing_next: null })
]

/**
 * Renders a now-playing object as JSON of at most 20 KiB. The end of the history is left out first, then other
 * members of unbounded size, the least important ones first. All keys stay.
 */
export function renderBoundedNowPlaying(nowPlaying: EventNowPlaying): string {
  let body = nowPlaying
  let json = JSON.stringify(body)
  for (const reduce of reductions) {
    const excess = Buffer.byteLength(json) - maxBytes
    if (excess <= 0) break
    body = reduce(body, excess)
    json = JSON.stringify(body)
  }
  return json
}

/** Drops as many elements from the end of a list as make up `excess` bytes. */
function shorten<Element>(list: readonly Element[], excess: number): Element[] {
  let kept = list.length
  for (let left = excess; left > 0 && kept > 0; kept--)
    left -= Buffer.byteLength(JSON.stringify(list[kept - 1])) + 1
  return list.slice(0, kept)
}

type SongChange = Partial<EventNowPlaying['now_playing']['song']>

function changeSong<Item extends { readonly song: object }>(item: Item, change: SongChange): Item {
  return { ...item, song: { ...item.song, ...change } }
}

function withStation(body: EventNowPlaying, change: Partial<EventNowPlaying['station']>): EventNowPlaying {
  return { ...body, station: { ...body.station, ...change } }
}

function changeNext(body: EventNowPlaying, change: SongChange): EventNowPlaying {
  return { ...body, playing_next: body.playing_next && changeSong(body.playing_next, change) }
}

/** Renders the now-playing object at the time of an event; the same in every attempt. */
export function renderEventNowPlaying(
  state: StationState,
  happenedAtMs: number,
  renderer: Pick<StationRenderer, 'event'>
): EventNowPlaying {
  const document = renderer.event(state)
  const moving = renderElapsed(document, Math.floor(happenedAtMs / 1000))
  return JSON.parse(document.head + moving + document.tail)
}
