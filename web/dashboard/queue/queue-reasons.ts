import * as v from 'valibot'

import { isolated } from '../ui/light-element.ts'

/*
 * Why a song is in the queue, as sentences. The log of a row is made for programs as well; what is not known here is
 * left out.
 */

const count = v.number()
const entry = v.variant('step', [
  v.object({ step: v.literal('slot'), at: count, why: v.string() }),
  v.object({ step: v.literal('requests'), pending: count, why: v.string() }),
  v.object({ step: v.literal('playlist'), name: v.string(), why: v.string() }),
  v.object({ step: v.literal('bucket'), bucket: v.string(), order: v.array(v.object({ id: count })) }),
  v.object({
    step: v.literal('tracks'),
    looked_at: count,
    skipped: v.object({ song: count, title: count, artist: count })
  }),
  v.object({
    step: v.literal('picked'),
    id: v.optional(count, 0),
    tier: v.optional(count, 1),
    overrun: v.optional(count, 0),
    request: v.optional(count)
  }),
  v.object({ step: v.literal('moved'), from: count, to: count, why: v.string() }),
  v.object({ step: v.literal('moved_by_hand'), from: count, to: count })
])
type Entry = v.InferOutput<typeof entry>

/** How names and times are shown. */
export interface Wording {
  /** The name of a playlist; null where it is not known. */
  readonly nameOf: (playlistId: number) => string | null
  /** The time of day of Unix seconds. */
  readonly timeOf: (seconds: number) => string
}

/** The reasons of a row, in the order in which they arose. */
export function reasonsOf(log: readonly unknown[], wording: Wording): string[] {
  return log.flatMap(each => {
    const { success, output } = v.safeParse(entry, each)
    return success ? [sentence(output, wording)] : []
  })
}

function sentence(said: Entry, { nameOf, timeOf }: Wording): string {
  switch (said.step) {
    case 'slot':
      return `Planned for ${timeOf(said.at)}${slotReasons[said.why] ?? ''}.`
    case 'requests':
      return `No request: ${requestReasons[said.why] ?? 'none fitted'}.`
    case 'playlist':
      return `“${isolated(said.name)}” was passed over: ${hindrances[said.why] ?? 'it was not due'}.`
    case 'bucket':
      return `${bucketText(said.bucket)}${orderText(said.order.map(({ id }) => named(nameOf(id), id)))}.`
    case 'tracks':
      return `${songs(said.looked_at)} looked at${skippedText(said.skipped)}.`
    case 'picked':
      return pickedText(said, nameOf)
    case 'moved':
      return `Moved from ${timeOf(said.from)} to ${timeOf(said.to)}${moveReasons[said.why] ?? ''}.`
    case 'moved_by_hand':
      return `Moved by hand from place ${said.from} to place ${said.to}.`
    default:
      return said satisfies never
  }
}

type Words = Readonly<Record<string, string>>

const slotReasons: Words = {
  fill: ', to keep the queue full',
  window_open: ', because a scheduled playlist begins',
  request_due: ', because a request was due',
  replaced: ', in place of a song that was taken out',
  manual: ': an operator put it in',
  interrupt: ', cutting in on what plays'
}

const requestReasons: Words = {
  none_pending: 'nobody asked for one',
  not_due: 'those waiting were not due yet',
  too_recent: 'those due were heard not long ago',
  run_limit: 'enough of them were played in a row',
  prioritized: 'a playlist had priority'
}

const hindrances: Words = {
  not_scheduled: 'it is not scheduled now',
  already_played: 'it has had its turn',
  too_soon: 'its turn comes later',
  not_enough_songs: 'not enough songs were played since its last turn',
  not_configured: 'it is not set up completely',
  disabled: 'it is switched off',
  empty: 'there is nothing in it',
  overrun: 'its song would run beyond the end of its time',
  loop_done: 'it was played through'
}

const moveReasons: Words = {
  request_inserted: ', because a request came before it',
  window_open: ', because a scheduled playlist came before it'
}

const bucketNames: Words = {
  once_per_hour: 'Playlists of once an hour',
  once_per_x_songs: 'Playlists of every few songs',
  once_per_x_minutes: 'Playlists of every few minutes',
  default: 'The rotation'
}

function bucketText(bucket: string): string {
  const [type = '', when] = bucket.split('/')
  return `${bucketNames[type] ?? 'Playlists'}${when === 'scheduled' ? ' that are scheduled now' : ''}`
}

const orderText = (names: readonly string[]) =>
  names.length === 1 ? `: only ${names[0]}` : `, drawn by weight in this order: ${names.join(', ')}`

const named = (name: string | null, id: number) => (name === null ? `playlist ${id}` : `“${isolated(name)}”`)
const songs = (amount: number) => (amount === 1 ? '1 song' : `${amount} songs`)

function skippedText({ song, title, artist }: { song: number; title: number; artist: number }): string {
  const parts = [
    [song, 'the song itself'],
    [title, 'the title'],
    [artist, 'the artist']
  ] as const
  const said = parts.flatMap(([amount, what]) => (amount === 0 ? [] : [`${amount} because of ${what}`]))
  return said.length === 0 ? '' : `, passed over as heard not long ago: ${said.join(', ')}`
}

const compromises: Words = {
  2: ', though the artist was heard not long ago',
  3: ', though it was heard not long ago, for want of anything better'
}

function pickedText(
  { id, request, tier, overrun }: Extract<Entry, { step: 'picked' }>,
  nameOf: Wording['nameOf']
): string {
  if (request !== undefined) return 'Picked: a listener asked for it.'
  const beyond = overrun > 0 ? ` It ends ${overrun} seconds after the time of its playlist.` : ''
  return `Picked from ${named(nameOf(id), id)}${compromises[tier] ?? ''}.${beyond}`
}
