import { exactly, int64, string } from '../../../core/schemas.ts'
import { readRecordingSizes } from '../../../streamers/streamer-broadcasts.ts'
import { changeSchema, isoTime, nothing, nullableIsoTime, replaceSchema } from '../../answer-schema.ts'
import type { RecordDialect } from '../../record-dialect.ts'

type BroadcastRow = {
  readonly id: number
  readonly streamer: number | null
  readonly username: string
  readonly streamer_name: string
  readonly timestamp_start: number
  readonly timestamp_end: number | null
}

export const broadcast: RecordDialect<BroadcastRow> = {
  answer: replaceSchema({
    id: int64,
    timestampStart: isoTime,
    timestampEnd: nullableIsoTime,
    streamer: { oneOf: [exactly({ id: int64, streamer_username: string, display_name: string }), nothing] },
    recording: { oneOf: [exactly({ path: string, size: int64, downloadUrl: string }), nothing] },
    links: exactly({ delete: string })
  }),
  async render(rows, { sql, services, stationId, stationLink }) {
    const recorded = await sql<{ id: number; path: string }[]>`
      select id, recording_path as path from broadcasts
      where id = any(${rows.map(({ id }) => id)}::bigint[]) and recording_path <> ''`
    const paths = new Map(recorded.map(({ id, path }) => [id, path]))
    const sizes = await readRecordingSizes([...paths.values()], stationId, services)
    return rows.map(row => {
      const path = paths.get(row.id) ?? ''
      const size = sizes.get(path)
      const self = stationLink(`streamer/${row.streamer ?? 0}/broadcast/${row.id}`)
      return {
        id: row.id,
        timestampStart: toIsoTime(row.timestamp_start),
        timestampEnd: row.timestamp_end === null ? null : toIsoTime(row.timestamp_end),
        streamer: row.streamer === null ? null : streamerOf(row, row.streamer),
        recording: size === undefined ? null : { path, size, downloadUrl: `${self}/download` },
        links: { delete: self }
      }
    })
  }
}

type StreamerBroadcastRow = {
  readonly timestampStart: string
  readonly timestampEnd: string | null
}

/** A broadcast in the list of its streamer, who is not named there. Local times have their offset. */
export const streamerBroadcast: RecordDialect<StreamerBroadcastRow> = {
  answer: changeSchema({ fields: { streamer: nothing } }),
  render: rows =>
    rows.map(row => ({
      ...row,
      timestampStart: toIsoTime(Date.parse(row.timestampStart) / 1000),
      timestampEnd: row.timestampEnd === null ? null : toIsoTime(Date.parse(row.timestampEnd) / 1000),
      streamer: null
    }))
}

const streamerOf = (row: BroadcastRow, id: number) => ({
  id,
  streamer_username: row.username,
  display_name: row.streamer_name
})

/** Unix seconds as a UTC time. */
export const toIsoTime = (seconds: number) => `${new Date(seconds * 1000).toISOString().slice(0, 19)}.000000Z`
