import { isOnline } from './state.ts'

/** The triggers that a widget or a web hook can subscribe to. */
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

/** The part of a state that triggers depend on. */
export interface Observed {
  readonly current: { readonly shId: number } | null
  readonly shown: { readonly shId: number } | null
  readonly listeners: { readonly total: number }
  readonly live: { readonly startedAtMs: number } | null
}

/**
 * The triggers that fire between two states of a station. A new `sh_id` is a new song, even if the song is
 * the same. Jingles are not shown and fire nothing. A hand-over from one DJ to another fires both live
 * triggers.
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
