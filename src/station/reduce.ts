import type { Effect } from './effect.ts'
import type { StationEvent, TrackStarted, WentOffline } from './event.ts'
import type { Revisions, StationState } from './state.ts'
import { triggersOf } from './triggers.ts'

/** The state after an event and what must follow. No change: the same object and no effects. */
export interface Step {
  readonly state: StationState
  readonly effects: readonly Effect[]
}

/**
 * Applies one event. Pure: the same state and event give the same step. An event whose revision the state has
 * already seen changes nothing, so that events may come twice or late.
 */
export function reduce(state: StationState, event: StationEvent): Step {
  switch (event.type) {
    case 'station-changed':
      return apply(state, 'station', event.revision, { profile: event.profile })
    case 'track-started':
      return trackStarted(state, event)
    case 'queue-changed':
      return apply(state, 'queue', event.revision, { next: event.next })
    case 'listeners-counted':
      return apply(state, 'listeners', event.revision, { listeners: event.listeners })
    case 'live-started':
      return apply(state, 'live', event.revision, { live: event.live })
    case 'live-ended':
      return apply(state, 'live', event.revision, { live: null })
    case 'went-offline':
      return wentOffline(state, event)
    default:
      return event satisfies never
  }
}

function trackStarted(state: StationState, event: TrackStarted): Step {
  const { current, shown, history } = event
  const follow: Effect[] =
    current.dueAtMs === null ? [] : [{ type: 'schedule-advance', shId: current.shId, atMs: current.dueAtMs }]
  return apply(
    state,
    'playback',
    event.revision,
    { current, shown, history, ...queueOf(state, event) },
    follow
  )
}

function wentOffline(state: StationState, event: WentOffline): Step {
  const patch = { current: null, shown: null, history: event.history, ...queueOf(state, event) }
  return apply(state, 'playback', event.revision, patch)
}

/** A step of the playback takes a row out of the queue, so it speaks of the queue as well. */
function queueOf(state: StationState, event: TrackStarted | WentOffline) {
  if (event.revision <= state.revisions.queue) return {}
  return { next: event.next, revisions: { ...state.revisions, queue: event.revision } }
}

function apply(
  state: StationState,
  part: keyof Revisions,
  revision: number,
  patch: Partial<StationState>,
  follow: readonly Effect[] = []
): Step {
  if (revision <= state.revisions[part]) return { state, effects: [] }
  const revisions = { ...(patch.revisions ?? state.revisions), [part]: revision }
  const after: StationState = { ...state, ...patch, revisions }
  return { state: after, effects: [{ type: 'publish', triggers: triggersOf(state, after) }, ...follow] }
}
