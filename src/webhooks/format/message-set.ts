import type { ValuesOf } from '../../fields/field.ts'
import { parsedUrl } from '../../outbound/networks.ts'
import type { HookEvent } from '../event.ts'
import { template } from '../settings.ts'
import { playedSong } from './now-playing-body.ts'
import { isBlank } from './plain-text.ts'

const message = (trigger: string) =>
  template({ max: 500, fallback: '', about: `The post on ${trigger}; empty: none.` })

/** A post per trigger, for social networks. */
export const messageSet = {
  message: message('song_changed'),
  message_song_changed_live: message('song_changed_live'),
  message_live_connect: message('live_connect'),
  message_live_disconnect: message('live_disconnect'),
  message_station_offline: message('station_offline'),
  message_station_online: message('station_online')
}

/** Why there is no post where `postsOf` gives none. */
export const noPost = 'There is no message for what happened, it is empty, or its song is over.'

export interface Post {
  /** The same over all attempts: the event's, with a number from the second post on. */
  readonly id: string
  readonly text: string
}

/** The posts on an event, in the order of its triggers: of each its template, as `fill` makes text of it. */
export function postsOf(
  { id, triggers, nowPlaying }: HookEvent,
  settings: ValuesOf<typeof messageSet>,
  fill: (template: string) => string
): Post[] {
  const templates = {
    song_changed: settings.message,
    song_changed_live: settings.message_song_changed_live,
    live_connect: settings.message_live_connect,
    live_disconnect: settings.message_live_disconnect,
    station_offline: settings.message_station_offline,
    station_online: settings.message_station_online,
    listener_gained: '',
    listener_lost: ''
  }
  // Facts that were merged show the last state, in which a song may be over.
  const isSilent = playedSong(nowPlaying) === null
  return triggers
    .filter(trigger => !(isSilent && trigger.startsWith('song_')))
    .map(trigger => fill(templates[trigger]))
    .filter(text => !isBlank(text))
    .map((text, index) => ({ id: index === 0 ? id : `${id}-${index + 1}`, text }))
}

/** An address in a text, from and to so many bytes of its UTF-8. */
export interface Link {
  readonly address: string
  readonly from: number
  readonly to: number
}

/** The web addresses in a text, without the punctuation behind them. One that was cut off is none. */
export function linksIn(text: string): Link[] {
  return Array.from(text.matchAll(/(?<![^\s(])https?:\/\/\S+/gi)).flatMap(({ 0: found, index }) => {
    if (found.includes('…')) return []
    const ends = found.includes('(') ? /[.,;:!?'"\]]+$/ : /[.,;:!?'"\])]+$/
    const address = found.replace(ends, '')
    const from = Buffer.byteLength(text.slice(0, index))
    return parsedUrl(address) ? [{ address, from, to: from + Buffer.byteLength(address) }] : []
  })
}
