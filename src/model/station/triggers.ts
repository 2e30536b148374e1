import { isStationOnline, type PartRevisions } from './state.ts'

/** The triggers of web hooks and events. */
export const triggerNames = [
  'song_changed',
  'song_changed_live',
  'listener_gained',
  'listener_lost',
  'live_connect',
  'live_disconnect',
  'station_offline',
  'station_online'
] as const

export type Trigger = (typeof triggerNames)[number]

/** Web hooks get these only once the new status has lasted. */
export const statusTriggers: ReadonlySet<Trigger> = new Set(['station_online', 'station_offline'])

const triggersOfParts: Readonly<Record<keyof PartRevisions, readonly Trigger[]>> = {
  station: [],
  queue: [],
  playback: ['song_changed', 'song_changed_live', 'station_online', 'station_offline'],
  live: ['song_changed_live', 'live_connect', 'live_disconnect', 'station_online', 'station_offline'],
  listeners: ['listener_gained', 'listener_lost']
}

/**
 * Whether a change of these parts may fire a trigger of a web hook. `hookTriggers`: those of each web hook of the
 * station; an empty list stands for all.
 */
export function mayFireTriggers(
  hookTriggers: readonly (readonly Trigger[])[],
  parts: ReadonlySet<keyof PartRevisions>
): boolean {
  const fired = new Set([...parts].flatMap(part => triggersOfParts[part]))
  // Of an unreadable web hook they may be anything.
  return hookTriggers
    .filter(Array.isArray)
    .some((own: readonly Trigger[]) =>
      own.length === 0 ? fired.size > 0 : own.some(trigger => fired.has(trigger))
    )
}

/** The part of a state that triggers depend on. */
export interface TriggerState {
  readonly current: { readonly shId: number } | null
  readonly shown: { readonly shId: number } | null
  readonly listeners: { readonly total: number }
  readonly live: { readonly startedAtMs: number } | null
}

/**
 * The triggers that fire between two states. A new `sh_id` is a new song. Jingles fire nothing. A change from
 * one DJ to another fires both live triggers.
 */
export function triggersBetween(before: TriggerState, after: TriggerState): Trigger[] {
  const fired: Trigger[] = []
  const { shown } = after
  if (shown && shown.shId !== before.shown?.shId && shown.shId === after.current?.shId) {
    fired.push('song_changed')
    if (after.live !== null) fired.push('song_changed_live')
  }
  if (after.listeners.total > before.listeners.total) fired.push('listener_gained')
  if (after.listeners.total < before.listeners.total) fired.push('listener_lost')
  if (before.live?.startedAtMs !== after.live?.startedAtMs) {
    if (before.live !== null) fired.push('live_disconnect')
    if (after.live !== null) fired.push('live_connect')
  }
  if (isStationOnline(before) && !isStationOnline(after)) fired.push('station_offline')
  if (!isStationOnline(before) && isStationOnline(after)) fired.push('station_online')
  return fired
}
