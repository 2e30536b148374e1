import type { Song, StationSnapshot, StationState } from '../model/station/state.ts'
import { unpublishedChanges } from '../platform/metrics/engine.ts'
import { withDeadline } from '../platform/runtime/deadline.ts'
import { engineTimeMs } from '../platform/runtime/engine-time.ts'
import { tracedWithin } from '../platform/tracing/tracing.ts'
import { scheduleDeliveries } from '../stores/jobs/queues.ts'
import { publishSnapshots } from './publish.ts'
import type { PlayoutServices } from './services.ts'

/** What has to be published after a commit. */
export interface CommittedChanges {
  /** Read within the transaction, of the stations that show something else. */
  readonly snapshots: Promise<readonly StationSnapshot[]>
  /** The play before, of each station whose playback changed. */
  readonly playsBefore: ReadonlyMap<number, number | null>
  /** Sent together with the commit: the ids of the web hooks that have deliveries now. */
  readonly outbox: Promise<readonly { readonly id: number }[]> | null
}

/** Publishes committed changes, or leaves that to the sweep if a store is unavailable. */
export async function publishCommitted(services: PlayoutServices, changes: CommittedChanges): Promise<void> {
  const webhookIds = (await changes.outbox)?.map(({ id }) => id) ?? []
  const snapshots = await changes.snapshots
  const publish = () => publishEventually(services, snapshots)
  const states = await tracedWithin('publish', { 'cuewire.stations': snapshots.length }, publish)
  await dispatchDeliveries(services, webhookIds)
  for (const state of states) {
    const before = changes.playsBefore.get(state.stationId)
    if (before !== undefined && before !== (state.current?.shId ?? null))
      services.log.info(...nowPlayingLine(state))
  }
}

/** Publishes what was committed. Leaves out what could not be stored; the sweep publishes it later. */
async function publishEventually(
  services: PlayoutServices,
  snapshots: readonly StationSnapshot[]
): Promise<StationState[]> {
  if (services.redis.status === 'reconnecting' || services.redis.status === 'end') {
    unpublishedChanges.value += snapshots.length
    return []
  }
  try {
    return (await publishSnapshots(services, snapshots)).filter(state => state !== null)
  } catch (error) {
    const [first, ...others] = snapshots
    if (first && others.length === 0)
      services.log.warn({ err: error, station: first.stationId }, 'live state not updated; retrying')
    if (others.length === 0) {
      unpublishedChanges.value += snapshots.length
      return []
    }
    // One by one, because only a part of a Redis Cluster may be unavailable.
    return (await Promise.all(snapshots.map(each => publishEventually(services, [each])))).flat()
  }
}

const enqueueTimeoutMs = 500

/** Starts or enqueues deliveries that were committed. If Redis is unavailable, the relay finds them. */
export async function dispatchDeliveries(
  { deliveries, deliverNow, log }: PlayoutServices,
  webhookIds: readonly number[]
): Promise<void> {
  const others = webhookIds.filter(id => !deliverNow?.(id))
  if (others.length === 0) return
  try {
    const add = () => scheduleDeliveries(deliveries, others, engineTimeMs())
    await withDeadline(enqueueTimeoutMs, 'enqueuing deliveries of web hooks', add)
  } catch (error) {
    log.warn({ err: error }, 'deliveries of web hooks not enqueued; retrying')
  }
}

/** The log line of a song change: data for programs, a sentence for people. */
function nowPlayingLine(state: StationState): [data: { station: string; play: number }, text: string] {
  const { profile, shown, next } = state
  const data = { station: profile.shortName, play: state.current?.shId ?? 0 }
  if (!shown) return [data, `${profile.shortName}: silent, nothing to play`]
  const following = next ? `, next: ${title(next.song)}` : ''
  return [data, `${profile.shortName}: ${title(shown.song)} (${length(shown.durationMs)})${following}`]
}

const title = (song: Song) => [song.artist, song.title].filter(part => part !== '').join(' - ')

function length(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
