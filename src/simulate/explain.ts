import type { Playlist } from '../autodj/library.ts'
import type { LogEntry } from '../autodj/log-entry.ts'
import type { SimulatedPlay } from '../autodj/simulate.ts'
import type { Zone } from '../autodj/zone.ts'
import { lengthText, localTimeAt } from './calendar.ts'
import { nameOf } from './starts.ts'

/** A play with the reasons for it, as lines for people. */
export function explain(
  each: SimulatedPlay,
  playlists: readonly Playlist[],
  zone: Zone,
  songName: (mediaId: number | null) => string
): string[] {
  const { startsAtMs, endsAtMs, play, log } = each
  const what = play === null ? 'silence' : `${nameOf(playlists, each)}: ${songName(play.mediaId)}`
  const names = new Map(playlists.map(({ id, name }) => [id, name]))
  const reasons = log.flatMap(entry => reasonOf(entry, zone, id => names.get(id) ?? `playlist ${id}`))
  return [
    `${localTimeAt(zone, startsAtMs)}  ${what} (${lengthText(endsAtMs - startsAtMs)})`,
    ...reasons,
    ...hindrances(log)
  ].map((line, index) => (index === 0 ? line : `    ${line}`))
}

function reasonOf(entry: LogEntry, zone: Zone, nameOfPlaylist: (id: number) => string): string[] {
  const clock = (seconds: number) => localTimeAt(zone, seconds * 1_000).slice(-8)
  switch (entry.step) {
    case 'slot':
      return [`slot of ${clock(entry.at)}: ${inWords(entry.why)}`]
    case 'requests':
      return entry.pending === 0 ? [] : [`no request of ${entry.pending}: ${inWords(entry.why)}`]
    case 'bucket':
      return [
        `drawn of ${inWords(entry.bucket)}: ${entry.order.map(({ id, weight }) => `${nameOfPlaylist(id)} (weight ${weight})`).join(', ')}`
      ]
    case 'tracks': {
      const { song, title, artist } = entry.skipped
      return [
        `of ${entry.looked_at} tracks of ${nameOfPlaylist(entry.id)} ${song} clash by song, ${title} by title, ${artist} by artist`
      ]
    }
    case 'picked':
      if ('request' in entry) return [`request ${entry.request}`]
      return [
        `tier ${entry.tier} of pass ${entry.pass}${entry.overrun > 0 ? `, ${entry.overrun} s beyond its window` : ''}`
      ]
    case 'moved':
    case 'moved_by_hand':
      return [`moved from ${clock(entry.from)} to ${clock(entry.to)}`]
    case 'playlist':
      return []
    default:
      return entry satisfies never
  }
}

/** Playlists that were not due, by the reason. */
function hindrances(log: readonly LogEntry[]): string[] {
  const names = new Map<string, string[]>()
  for (const entry of log)
    if (entry.step === 'playlist') names.set(entry.why, [...(names.get(entry.why) ?? []), entry.name])
  if (names.size === 0) return []
  return [`not due: ${[...names].map(([why, each]) => `${each.join(', ')} (${inWords(why)})`).join('; ')}`]
}

const inWords = (word: string) => word.replaceAll('_', ' ')
