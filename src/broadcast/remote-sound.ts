import { changeStation } from '../playout/change-station.ts'
import type { PlayoutServices } from '../playout/services.ts'
import type { Stream } from './stream.ts'

/** Writes down how a remote sounds where nobody has said it yet, and shows it. What was said stays. */
export async function learnSound(
  services: PlayoutServices,
  remote: { readonly stationId: number; readonly remoteId: number },
  { bitrate, format }: Pick<Stream, 'bitrate' | 'format'>
): Promise<void> {
  await changeStation(services, remote.stationId, async ({ tx, mark }) => {
    const { count } = await tx`
      update remotes set bitrate = case bitrate when 0 then ${bitrate} else bitrate end,
        format = case format when '' then ${format} else format end
      where id = ${remote.remoteId} and ((bitrate = 0 and ${bitrate} > 0) or (format = '' and ${format} <> ''))`
    if (count > 0) mark(['station'])
  })
}
