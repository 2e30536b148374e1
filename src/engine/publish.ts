import {
  pickVisibleState,
  type ShownSong,
  type StationSnapshot,
  type StationState
} from '../model/station/state.ts'
import { triggersBetween } from '../model/station/triggers.ts'
import { unpublishedChangesMetric } from '../platform/metrics/engine.ts'
import { runInChildSpan } from '../platform/tracing/tracing.ts'
import type { ScheduledPlay } from '../stores/jobs/scheduled-plays.ts'
import { formatPosition } from '../stores/redis/state-schema.ts'
import { commitState } from '../stores/redis/station-store.ts'
import type { EngineServices } from './services.ts'
import { type StationOnAir, toTriggerState } from './station-facts.ts'

/** A station before a committed change, and what it shows since. */
export interface ShownChange {
  readonly before: StationOnAir
  readonly snapshot: StationSnapshot
  /** Another play may be current, or end at another time. */
  readonly hasNewPlayback: boolean
}

/** What has to be published after a commit. */
export interface CommittedChanges {
  /** The stations that show something else. Their snapshots were read within the transaction. */
  readonly shown: Promise<readonly ShownChange[]>
  /** Sent together with the commit: the ids of the web hooks that have deliveries now. */
  readonly outbox: Promise<readonly { readonly id: number }[]> | null
  readonly afterCommit: readonly (() => void)[]
}

/** Publishes committed changes, or leaves that to the sweep if a store is unavailable. */
export async function publishCommitted(services: EngineServices, changes: CommittedChanges): Promise<void> {
  for (const work of changes.afterCommit) work()
  const webhookIds = (await changes.outbox)?.map(({ id }) => id) ?? []
  const shown = await changes.shown
  const publish = () => publishEventually(services, shown)
  const states = await runInChildSpan('publish', { 'cuewire.stations': shown.length }, publish)
  await services.dispatchDeliveries(webhookIds)
  for (const [index, { before, hasNewPlayback }] of shown.entries()) {
    const state = states[index]
    if (state && hasNewPlayback && state.current?.shId !== before.play?.id)
      services.log.info(...nowPlayingLine(state))
  }
}

/** Publishes what was committed. Null for what could not be stored; the sweep publishes it later. */
async function publishEventually(
  services: EngineServices,
  shown: readonly ShownChange[]
): Promise<(StationState | null)[]> {
  if (services.redis.status === 'reconnecting' || services.redis.status === 'end') {
    unpublishedChangesMetric.value += shown.length
    return shown.map(() => null)
  }
  try {
    return await publishChanges(services, shown)
  } catch (error) {
    const [first, ...others] = shown
    if (first && others.length === 0) {
      const station = first.before.station.id
      services.log.warn({ err: error, station }, 'live state not updated; retrying')
    }
    if (others.length === 0) {
      unpublishedChangesMetric.value += shown.length
      return shown.map(() => null)
    }
    // One by one, because only a part of a Redis Cluster may be unavailable.
    return (await Promise.all(shown.map(each => publishEventually(services, [each])))).flat()
  }
}

/**
 * Does what `publishStation` does for committed changes, and returns the states in their order. Nothing is read: Redis
 * usually has what each station showed before the change. Where it has another state, all changes that were committed
 * meanwhile share one more publication.
 */
async function publishChanges(
  services: EngineServices,
  changes: readonly ShownChange[]
): Promise<(StationState | null)[]> {
  const playing = changes.flatMap(({ snapshot, hasNewPlayback }) => (hasNewPlayback ? [snapshot] : []))
  const [states] = await Promise.all([
    Promise.all(changes.map(change => storeOver(services, change))),
    services.scheduledPlays.add(playing.flatMap(findScheduledPlay))
  ])
  return Promise.all(
    changes.map(
      async ({ snapshot: { stationId } }, index) => states[index] ?? services.publishNewest(stationId)
    )
  )
}

/** The current play of a station, if the clock ends it. */
export function findScheduledPlay({ stationId, current }: StationSnapshot): ScheduledPlay[] {
  const { shId, dueAtMs } = current ?? { shId: 0, dueAtMs: null }
  return dueAtMs === null ? [] : [{ stationId, shId, dueAtMs }]
}

/** Stores what a change shows over the state before it. Returns null if another one is stored. */
async function storeOver(
  { redis, processes }: EngineServices,
  { before, snapshot }: ShownChange
): Promise<StationState | null> {
  const schema = processes.schema()
  const state: StationState = { ...pickVisibleState(snapshot), offset: 0 }
  const { epoch, revision } = before.station
  const over = formatPosition({ epoch, offset: 0, revision, schema })
  // Redis notices itself if listeners are lost.
  const triggers = triggersBetween({ ...toTriggerState(before), listeners: state.listeners }, state)
  return commitState(redis, { state, counts: snapshot.counts, over, triggers, schema })
}

/** The log line of a song change: data for programs, a sentence for people. */
function nowPlayingLine(state: StationState): [data: { station: string; play: number }, text: string] {
  const { profile, shown, next } = state
  const data = { station: profile.shortName, play: state.current?.shId ?? 0 }
  if (!shown) return [data, `${profile.shortName}: silent, nothing to play`]
  const following = next ? `, next: ${title(next.song)}` : ''
  return [data, `${profile.shortName}: ${title(shown.song)} (${length(shown.durationMs)})${following}`]
}

const title = (song: ShownSong) => [song.artist, song.title].filter(part => part !== '').join(' - ')

function length(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
