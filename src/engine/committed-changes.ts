import type { Song, StationState } from '../model/station/state.ts'
import { unpublishedChanges } from '../platform/metrics/engine.ts'
import { withDeadline } from '../platform/runtime/deadline.ts'
import { engineTimeMs } from '../platform/runtime/engine-time.ts'
import { tracedWithin } from '../platform/tracing/tracing.ts'
import { scheduleDeliveries } from '../stores/jobs/queues.ts'
import { publishChanges, type ShownChange } from './publish.ts'
import type { PlayoutServices } from './services.ts'

/** What has to be published after a commit. */
export interface CommittedChanges {
  /** The stations that show something else. Their snapshots were read within the transaction. */
  readonly shown: Promise<readonly ShownChange[]>
  /** Sent together with the commit: the ids of the web hooks that have deliveries now. */
  readonly outbox: Promise<readonly { readonly id: number }[]> | null
  readonly afterCommit: readonly (() => void)[]
}

/** Publishes committed changes, or leaves that to the sweep if a store is unavailable. */
export async function publishCommitted(services: PlayoutServices, changes: CommittedChanges): Promise<void> {
  for (const work of changes.afterCommit) work()
  const webhookIds = (await changes.outbox)?.map(({ id }) => id) ?? []
  const shown = await changes.shown
  const publish = () => publishEventually(services, shown)
  const states = await tracedWithin('publish', { 'cuewire.stations': shown.length }, publish)
  await dispatchDeliveries(services, webhookIds)
  for (const [index, { before, hasNewPlayback }] of shown.entries()) {
    const state = states[index]
    if (state && hasNewPlayback && state.current?.shId !== before.play?.id)
      services.log.info(...nowPlayingLine(state))
  }
}

/** Publishes what was committed. Null for what could not be stored; the sweep publishes it later. */
async function publishEventually(
  services: PlayoutServices,
  shown: readonly ShownChange[]
): Promise<(StationState | null)[]> {
  if (services.redis.status === 'reconnecting' || services.redis.status === 'end') {
    unpublishedChanges.value += shown.length
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
      unpublishedChanges.value += shown.length
      return shown.map(() => null)
    }
    // One by one, because only a part of a Redis Cluster may be unavailable.
    return (await Promise.all(shown.map(each => publishEventually(services, [each])))).flat()
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
