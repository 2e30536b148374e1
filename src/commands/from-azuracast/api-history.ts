import {
  type AzuracastClient,
  type AzuracastRecord,
  toNumberOrZero,
  toObject,
  apiPageRows
} from './api-client.ts'
import { scalarToText } from './source.ts'
import { playbackDelayMs } from './steps/history.ts'

/** The API wants both; it answers for the last two weeks otherwise. */
export const historyRange = { start: '2000-01-01', end: '2100-01-01' }

export const historyColumns = [
  'id',
  'station_id',
  'timestamp_start',
  'timestamp_end',
  'duration',
  'playlist_id',
  'streamer_id',
  'request_id',
  'text',
  'artist',
  'title',
  'album',
  'listeners_start',
  'listeners_end',
  'delta_positive',
  'delta_negative',
  'is_visible'
]

/** Reads the history of all stations in the order of the ids. */
export async function* readApiHistory(
  client: AzuracastClient,
  stations: readonly AzuracastRecord[],
  playlists: readonly AzuracastRecord[],
  streamers: readonly AzuracastRecord[]
): AsyncGenerator<readonly AzuracastRecord[]> {
  const streams = stations.map(({ id }) => readStationHistory(client, id, playlists, streamers))
  const heads = await Promise.all(streams.map(stream => stream.next()))
  let batch: AzuracastRecord[] = []
  for (;;) {
    let first = -1
    for (const [index, head] of heads.entries()) {
      const best = heads[first]
      if (
        !head.done &&
        (!best || best.done || toNumberOrZero(head.value['id']) < toNumberOrZero(best.value['id']))
      )
        first = index
    }
    const head = heads[first]
    const stream = streams[first]
    if (!head || head.done || !stream) break
    batch.push(head.value)
    heads[first] = await stream.next()
    if (batch.length < apiPageRows) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** The API lists the newest first, so the pages are read from the last one. */
async function* readStationHistory(
  client: AzuracastClient,
  stationId: unknown,
  playlists: readonly AzuracastRecord[],
  streamers: readonly AzuracastRecord[]
): AsyncGenerator<AzuracastRecord, undefined> {
  const path = `/api/station/${scalarToText(stationId)}/history`
  const idByName = (records: readonly AzuracastRecord[], name: string, value: unknown) =>
    value
      ? records.find(record => record['station_id'] === stationId && record[name] === value)?.['id']
      : null
  const { pages } = await client.page(path, historyRange, 1)
  for (let number = pages; number >= 1; number--)
    for (const play of (await client.page(path, historyRange, number)).rows.toReversed()) {
      const song = toObject(play['song'])
      const change = toNumberOrZero(play['delta_total'])
      const start = toNumberOrZero(play['played_at']) - playbackDelayMs / 1_000
      yield {
        ...play,
        ...song,
        id: play['sh_id'],
        station_id: stationId,
        timestamp_start: start,
        timestamp_end: start + toNumberOrZero(play['duration']),
        playlist_id: idByName(playlists, 'name', play['playlist']),
        streamer_id: idByName(streamers, 'display_name', play['streamer']),
        request_id: play['is_request'] === true ? 1 : null,
        delta_positive: Math.max(change, 0),
        delta_negative: Math.max(-change, 0)
      }
    }
  return undefined
}
