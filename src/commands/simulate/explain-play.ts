import type { Playlist } from '../../model/autodj/library.ts'
import type { DecisionLogEntry } from '../../model/autodj/log-entry.ts'
import type { SimulatedPlay } from '../../model/autodj/simulate.ts'
import { playSourceName } from '../../model/autodj/simulation/run.ts'
import type { TimeZone } from '../../model/autodj/time-zone.ts'
import { formatLength, formatLocalTime } from './calendar.ts'

/** Describes a play and the reasons for it, as lines of text. */
export function explainPlay(
  each: SimulatedPlay,
  playlists: readonly Playlist[],
  zone: TimeZone,
  songName: (mediaId: number | null) => string
): string[] {
  const { startsAtMs, endsAtMs, play, log } = each
  const what = play === null ? 'silence' : `${playSourceName(playlists, each)}: ${songName(play.mediaId)}`
  const names = new Map(playlists.map(({ id, name }) => [id, name]))
  const reasons = log.flatMap(entry => describeEntry(entry, zone, id => names.get(id) ?? `playlist ${id}`))
  const title = `${formatLocalTime(zone, startsAtMs)}  ${what} (${formatLength(endsAtMs - startsAtMs)})`
  return [title, ...[...reasons, ...describeObstacles(log)].map(line => `    ${line}`)]
}

function describeEntry(
  entry: DecisionLogEntry,
  zone: TimeZone,
  playlistName: (id: number) => string
): string[] {
  const clock = (seconds: number) => formatLocalTime(zone, seconds * 1_000).slice(-8)
  switch (entry.step) {
    case 'slot':
      return [`slot of ${clock(entry.at)}: ${toWords(entry.why)}`]
    case 'requests':
      return entry.pending === 0 ? [] : [`none of ${entry.pending} requests: ${toWords(entry.why)}`]
    case 'bucket': {
      const order = entry.order.map(({ id, weight }) => `${playlistName(id)} (weight ${weight})`)
      return [`drawn from ${toWords(entry.bucket)}: ${order.join(', ')}`]
    }
    case 'tracks': {
      const { song, title, artist } = entry.skipped
      const duplicates = `${song} by song, ${title} by title, ${artist} by artist`
      return [`${entry.looked_at} tracks of ${playlistName(entry.id)}; duplicates: ${duplicates}`]
    }
    case 'picked': {
      if ('request' in entry) return [`request ${entry.request}`]
      const overrun = entry.overrun > 0 ? `, ${entry.overrun} s overrun` : ''
      return [`tier ${entry.tier} of pass ${entry.pass}${overrun}`]
    }
    case 'moved':
    case 'moved_by_hand':
      return [`moved from ${clock(entry.from)} to ${clock(entry.to)}`]
    case 'playlist':
      return []
    default:
      return entry satisfies never
  }
}

/** Playlists that were not due, by reason. */
function describeObstacles(log: readonly DecisionLogEntry[]): string[] {
  const names = new Map<string, string[]>()
  for (const entry of log)
    if (entry.step === 'playlist') names.set(entry.why, [...(names.get(entry.why) ?? []), entry.name])
  if (names.size === 0) return []
  return [`not due: ${[...names].map(([why, each]) => `${each.join(', ')} (${toWords(why)})`).join('; ')}`]
}

const toWords = (word: string) => word.replaceAll('_', ' ')
