import type { RecordDialect } from './record-dialect.ts'

type BroadcastRow = {
  readonly id: number
  readonly streamer: number | null
  readonly username: string
  readonly streamer_name: string
  readonly timestamp_start: number
  readonly timestamp_end: number | null
}

export const broadcast: RecordDialect<BroadcastRow> = {
  render: (rows, { stationLink }) =>
    rows.map(row => ({
      id: row.id,
      timestampStart: toIsoTime(row.timestamp_start),
      timestampEnd: row.timestamp_end === null ? null : toIsoTime(row.timestamp_end),
      streamer: row.streamer === null ? null : streamerOf(row, row.streamer),
      recording: null,
      links: { delete: stationLink(`streamer/${row.streamer ?? 0}/broadcast/${row.id}`) }
    }))
}

const streamerOf = (row: BroadcastRow, id: number) => ({
  id,
  streamer_username: row.username,
  display_name: row.streamer_name
})

/** Unix seconds as a UTC time without milliseconds. */
export const toIsoTime = (seconds: number) => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`
