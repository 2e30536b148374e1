import { isOnline } from './state.ts'

/** The edges a widget or a web hook can ask for. */
export const triggers = [
  'song_changed',
  'song_changed_live',
  'listener_gained',
  'listener_lost',
  'live_connect',
  'live_disconnect',
  'station_offline',
  'station_online'
] as const

export type Trigger = (typeof triggers)[number]

/** What of a state tells edges apart. */
export interface Observed {
  readonly current: { readonly shId: number } | null
  readonly shown: { readonly shId: number } | null
  readonly listeners: { readonly total: number }
  readonly live: { readonly startedAtMs: number } | null
}

/**
 * The edges between the states before and after one event. A new `sh_id` is a new song, also when the song is the
 * same; jingles are not shown, so they change no song; a hand-over between two DJs is both edges.
 */
export function triggersOf(before: Observed, after: Observed): Trigger[] {
  const raised: Trigger[] = []
  if (
    after.shown !== null &&
    after.shown.shId !== before.shown?.shId &&
    after.shown.shId === after.current?.shId
  ) {
    raised.push('song_changed')
    if (after.live !== null) raised.push('song_changed_live')
  }
  if (after.listeners.total > before.listeners.total) raised.push('listener_gained')
  if (after.listeners.total < before.listeners.total) raised.push('listener_lost')
  if (before.live?.startedAtMs !== after.live?.startedAtMs) {
    if (before.live !== null) raised.push('live_disconnect')
    if (after.live !== null) raised.push('live_connect')
  }
  if (isOnline(before) && !isOnline(after)) raised.push('station_offline')
  if (!isOnline(before) && isOnline(after)) raised.push('station_online')
  return raised
}
