import { exactObject, int64, string } from '../../../core/schemas.ts'
import { readRecordingSizes } from '../../../streamers/streamer-broadcasts.ts'
import { declareReplacedRecord, shownMember } from '../../declare-record.ts'
import type { RecordDialect } from '../../record-dialect.ts'
import { schemaChanger, isoTime, nullSchema, nullableIsoTime } from '../../response-schema.ts'

type BroadcastRow = {
  readonly id: number
  readonly streamer: number | null
  readonly username: string
  readonly streamer_name: string
  readonly timestamp_start: number
  readonly timestamp_end: number | null
}

interface Recordings {
  /** By the id of the broadcast. */
  readonly paths: ReadonlyMap<number, string>
  readonly sizes: ReadonlyMap<string, number>
}

export const broadcastDialect = declareReplacedRecord<BroadcastRow, Recordings>({
  members: {
    id: shownMember(int64, ({ id }) => id),
    timestampStart: shownMember(isoTime, row => toIsoTime(row.timestamp_start)),
    timestampEnd: shownMember(nullableIsoTime, row =>
      row.timestamp_end === null ? null : toIsoTime(row.timestamp_end)
    ),
    streamer: shownMember(
      { oneOf: [exactObject({ id: int64, streamer_username: string, display_name: string }), nullSchema] },
      row => (row.streamer === null ? null : streamerOf(row, row.streamer))
    ),
    recording: shownMember(
      { oneOf: [exactObject({ path: string, size: int64, downloadUrl: string }), nullSchema] },
      (row, { extras: { paths, sizes }, stationLink }) => {
        const path = paths.get(row.id) ?? ''
        const size = sizes.get(path)
        return size === undefined ? null : { path, size, downloadUrl: stationLink(`${pathOf(row)}/download`) }
      }
    ),
    links: shownMember(exactObject({ delete: string }), (row, { stationLink }) => ({
      delete: stationLink(pathOf(row))
    }))
  },
  async read(rows, { sql, services, stationId }) {
    const recorded = await sql<{ id: number; path: string }[]>`
      select id, recording_path as path from broadcasts
      where id = any(${rows.map(({ id }) => id)}::bigint[]) and recording_path <> ''`
    const paths = new Map(recorded.map(({ id, path }) => [id, path]))
    return { paths, sizes: await readRecordingSizes([...paths.values()], stationId, services) }
  }
})

const pathOf = ({ id, streamer }: BroadcastRow) => `streamer/${streamer ?? 0}/broadcast/${id}`

type StreamerBroadcastRow = {
  readonly timestampStart: string
  readonly timestampEnd: string | null
}

/** A broadcast in the list of its streamer, who is not named there. Local times have their offset. */
export const streamerBroadcastDialect: RecordDialect<StreamerBroadcastRow> = {
  response: schemaChanger({ fields: { streamer: nullSchema } }),
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
