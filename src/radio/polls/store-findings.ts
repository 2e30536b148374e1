import { changeStation } from '../../engine/change-station.ts'
import { recordSourceCounts } from '../../engine/listeners/count-listeners.ts'
import { recordStreamObservation } from '../../engine/plays/observe-stream.ts'
import type { EngineServices } from '../../engine/services.ts'
import type { FairSemaphore } from '../../platform/runtime/fair-semaphore.ts'
import type { DescribeListener } from '../listener-details.ts'
import type { ServerStream } from '../server-stream.ts'
import type { IsPollLeased } from './lease-checks.ts'
import type { PollFindings } from './poll-findings.ts'
import type { LeasedPoll } from './poll-rows.ts'

export interface StoreFindingsDeps extends EngineServices {
  readonly isLeased: IsPollLeased
  readonly describeListener: DescribeListener
  /** Limits concurrent transactions. */
  readonly writes: Pick<FairSemaphore, 'run'>
}

/**
 * Stores the findings of a poll at a time in Unix milliseconds. `sessionsEndMs`: when listeners who are missing were
 * last connected, if that is known. Without its lease, findings may be outdated, and are ignored.
 */
export async function storePollFindings(
  deps: StoreFindingsDeps,
  poll: Pick<
    LeasedPoll,
    'id' | 'leasedUntilMs' | 'stationId' | 'remoteId' | 'bitrate' | 'format' | 'lastAnsweredAtMs'
  >,
  { report, observed, encoding }: PollFindings,
  { atMs, sessionsEndMs = null }: { readonly atMs: number; readonly sessionsEndMs?: number | null }
): Promise<void> {
  const { stationId } = poll
  if (!(await deps.isLeased(poll))) return
  await recordSourceCounts(deps, stationId, report, {
    atMs: sessionsEndMs ?? atMs,
    previousMs: sessionsEndMs ?? poll.lastAnsweredAtMs,
    describe: deps.describeListener
  })
  if (observed) {
    const { isConnected, artist, title } = observed
    await deps.writes.run(() =>
      recordStreamObservation(deps, stationId, { isConnected, artist, title, atMs })
    )
  }
  if (!encoding) return
  const isNew = (poll.bitrate === 0 && encoding.bitrate > 0) || (poll.format === '' && encoding.format !== '')
  if (isNew) await deps.writes.run(() => storeEncoding(deps, poll, encoding))
}

/** Stores the encoding of a remote where it is unknown. Values that are set are kept. */
async function storeEncoding(
  services: EngineServices,
  { stationId, remoteId }: Pick<LeasedPoll, 'stationId' | 'remoteId'>,
  { bitrate, format }: Pick<ServerStream, 'bitrate' | 'format'>
): Promise<void> {
  await changeStation(services, stationId, async ({ tx, mark }) => {
    const { count } = await tx`
      update remotes set bitrate = case bitrate when 0 then ${bitrate} else bitrate end,
        format = case format when '' then ${format} else format end
      where id = ${remoteId} and ((bitrate = 0 and ${bitrate} > 0) or (format = '' and ${format} <> ''))`
    if (count > 0) mark(['station'])
  })
}
