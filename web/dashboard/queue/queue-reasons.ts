import { formatCount, isolateBidi } from '../ui/text.ts'

/*
 * Converts the log of a queue row to sentences that say why the song is in the queue. Unknown entries are
 * omitted: a newer version may have written them.
 */

type Entry =
  | { readonly step: 'slot'; readonly at: number; readonly why: string }
  | { readonly step: 'requests'; readonly why: string }
  | { readonly step: 'playlist'; readonly name: string; readonly why: string }
  | { readonly step: 'bucket'; readonly bucket: string; readonly order: readonly { readonly id: number }[] }
  | { readonly step: 'tracks'; readonly looked_at: number; readonly skipped: Skipped }
  | Picked
  | { readonly step: 'moved'; readonly from: number; readonly to: number; readonly why: string }
  | { readonly step: 'moved_by_hand'; readonly from: number; readonly to: number }

type Skipped = Readonly<Record<'song' | 'title' | 'artist', number>>

interface Picked {
  readonly step: 'picked'
  readonly id?: number
  readonly tier?: number
  readonly overrun?: number
  readonly request?: number
}

/** The members that each entry has. */
const members = {
  slot: ['at', 'why'],
  requests: ['why'],
  playlist: ['name', 'why'],
  bucket: ['bucket', 'order'],
  tracks: ['looked_at', 'skipped'],
  picked: [],
  moved: ['from', 'to', 'why'],
  moved_by_hand: ['from', 'to']
} satisfies Record<Entry['step'], readonly string[]>
const membersByStep = new Map<unknown, readonly string[]>(Object.entries(members))

const isEntry = (each: unknown): each is Entry =>
  typeof each === 'object' &&
  each !== null &&
  'step' in each &&
  (membersByStep.get(each.step)?.every(member => member in each) ?? false)

export interface ReasonOptions {
  /** Finds the name of a playlist; null if it is unknown. */
  readonly findName: (playlistId: number) => string | null
  /** Formats Unix seconds. */
  readonly formatTime: (seconds: number) => string
}

/** Describes the log of a row, in its order. */
export function describeReasons(log: readonly unknown[], options: ReasonOptions): string[] {
  return log.filter(isEntry).map(entry => describeEntry(entry, options))
}

function describeEntry(logged: Entry, { findName, formatTime }: ReasonOptions): string {
  const quotePlaylist = (id: number) => {
    const name = findName(id)
    return name === null ? `playlist ${id}` : `“${isolateBidi(name)}”`
  }
  switch (logged.step) {
    case 'slot':
      return `Planned for ${formatTime(logged.at)}${slotReasons[logged.why] ?? ''}.`
    case 'requests':
      return `No request was chosen: ${requestReasons[logged.why] ?? 'none was eligible'}.`
    case 'playlist':
      return `“${isolateBidi(logged.name)}” was skipped: ${obstacles[logged.why] ?? 'it was not due'}.`
    case 'bucket':
      return `${describeBucket(logged.bucket)}${describeOrder(logged.order.map(({ id }) => quotePlaylist(id)))}.`
    case 'tracks':
      return `${formatCount(logged.looked_at, 'song')} considered${describeSkipped(logged.skipped)}.`
    case 'picked':
      return describePick(logged, quotePlaylist)
    case 'moved':
      return `Moved from ${formatTime(logged.from)} to ${formatTime(logged.to)}${moveReasons[logged.why] ?? ''}.`
    case 'moved_by_hand':
      return `Moved by an operator from position ${logged.from} to position ${logged.to}.`
    default:
      return logged satisfies never
  }
}

type Texts = Readonly<Record<string, string>>

const slotReasons: Texts = {
  fill: ' to fill the queue',
  window_open: ' because a scheduled playlist starts',
  request_due: ' because a request was due',
  replaced: ' to replace a removed song',
  manual: ', added by an operator',
  interrupt: ', interrupting the current song'
}

const requestReasons: Texts = {
  none_pending: 'there were none',
  not_due: 'the pending requests were not due yet',
  too_recent: 'the due requests were played recently',
  run_limit: 'the limit of consecutive requests was reached',
  prioritized: 'a playlist had priority'
}

const obstacles: Texts = {
  not_scheduled: 'it is not scheduled now',
  already_played: 'it was already played in this period',
  too_soon: 'it was played too recently',
  not_enough_songs: 'not enough songs were played since its last song',
  not_configured: 'its configuration is incomplete',
  disabled: 'it is disabled',
  empty: 'it is empty',
  overrun: 'its song would end after its scheduled time',
  loop_done: 'all its songs were played'
}

const moveReasons: Texts = {
  request_inserted: ' because a request was inserted before it',
  window_open: ' because a scheduled playlist was inserted before it'
}

const bucketNames: Texts = {
  once_per_hour: 'Hourly playlists',
  once_per_x_songs: 'Playlists played every few songs',
  once_per_x_minutes: 'Playlists played every few minutes',
  default: 'Rotation'
}

function describeBucket(bucket: string): string {
  const [type = '', when] = bucket.split('/')
  return `${bucketNames[type] ?? 'Playlists'}${when === 'scheduled' ? ', scheduled now' : ''}`
}

const describeOrder = (names: readonly string[]) =>
  names.length === 1 ? `: only ${names[0]}` : `, in weighted random order: ${names.join(', ')}`

function describeSkipped(skipped: Skipped): string {
  const parts = (['song', 'title', 'artist'] as const)
    .filter(part => skipped[part] > 0)
    .map(part => `${skipped[part]} by ${part}`)
  return parts.length === 0 ? '' : `, skipped as recently played: ${parts.join(', ')}`
}

const compromises: Texts = {
  2: ', although the artist was played recently',
  3: ', although it was played recently, because there was no better choice'
}

function describePick(
  { id = 0, request, tier = 1, overrun = 0 }: Picked,
  quotePlaylist: (id: number) => string
): string {
  if (request !== undefined) return 'Picked: requested by a listener.'
  const late = overrun > 0 ? ` It ends ${overrun} seconds after the scheduled time of its playlist.` : ''
  return `Picked from ${quotePlaylist(id)}${compromises[tier] ?? ''}.${late}`
}
