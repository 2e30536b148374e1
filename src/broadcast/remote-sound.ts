import { beginForStation } from '../db/station-transaction.ts'
import { publishEventually } from '../playout/publish.ts'
import type { PlayoutServices } from '../playout/services.ts'
import type { Stream } from './stream.ts'

/** Writes down how a remote sounds where nobody has said it yet, and shows it. What was said stays. */
export async function learnSound(
  services: PlayoutServices,
  remote: { readonly stationId: number; readonly remoteId: number },
  { bitrate, format }: Pick<Stream, 'bitrate' | 'format'>
): Promise<void> {
  const isLearned = await beginForStation(services.sql, remote.stationId, async tx => {
    await tx`select from stations where id = ${remote.stationId} for no key update`
    const { count } = await tx`
      update remotes set bitrate = case bitrate when 0 then ${bitrate} else bitrate end,
        format = case format when '' then ${format} else format end
      where id = ${remote.remoteId} and ((bitrate = 0 and ${bitrate} > 0) or (format = '' and ${format} <> ''))`
    if (count === 0) return false
    await tx`
      update stations set revision = next_revision(revision), station_revision = next_revision(revision) where id = ${remote.stationId}`
    return true
  })
  if (isLearned) await publishEventually(services, remote.stationId)
}
