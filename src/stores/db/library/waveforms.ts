import type { Sql, Tx } from '../sql.ts'

/** The stored waveform of a song's current file. */
export interface StoredWaveform {
  readonly mediaId: number
  readonly path: string
  /** False before the first request, after the file changed, and some time after a failure. */
  readonly isRequested: boolean
  readonly failure: string
  readonly sampleRate: number
  readonly samplesPerPixel: number
  /** See `Waveform`; empty if there is none. */
  readonly peaks: Uint8Array
}

/** A file that failed is tried again after this time: it may be there by then, or FFmpeg installed. */
const failureTtlMs = 10 * 60_000

/** Finds a song of a station by its id or unique id, with its waveform. Returns null if there is none. */
export async function findWaveform(
  sql: Sql,
  stationId: number,
  { id, uniqueId, nowMs }: { id: number; uniqueId: string; nowMs: number }
): Promise<StoredWaveform | null> {
  const [found] = await sql<StoredWaveform[]>`
    select m.id as "mediaId", m.path, coalesce(w.requested_at_ms is not null, false) as "isRequested",
      coalesce(w.failure, '') as failure, coalesce(w.sample_rate, 0) as "sampleRate",
      coalesce(w.samples_per_pixel, 0) as "samplesPerPixel", coalesce(w.peaks, '') as peaks
    from media m left join media_waveforms w on w.media_id = m.id and w.path = m.path
      and w.size_bytes = m.size_bytes and w.modified_ms = m.modified_ms
      and (w.failure = '' or w.made_at_ms > ${nowMs - failureTtlMs})
    where m.station_id = ${stationId} and m.remote_playlist_id is null
      and (m.id = ${id} or m.unique_id = ${uniqueId})`
  return found ?? null
}

/** Requests the waveform of a song from the workers. */
export async function requestWaveform(sql: Sql, mediaId: number, nowMs: number): Promise<void> {
  await sql`
    insert into media_waveforms (media_id, path, size_bytes, modified_ms, requested_at_ms)
    select id, path, size_bytes, modified_ms, ${nowMs} from media where id = ${mediaId}
    on conflict (media_id) do update set path = excluded.path, size_bytes = excluded.size_bytes,
      modified_ms = excluded.modified_ms, requested_at_ms = excluded.requested_at_ms, leased_until_ms = 0,
      attempts = 0, failure = '', peaks = ''
    where media_waveforms.requested_at_ms is null or media_waveforms.path <> excluded.path
      or media_waveforms.size_bytes <> excluded.size_bytes
      or media_waveforms.modified_ms <> excluded.modified_ms`
}

/** A requested waveform that this process makes. */
export interface WaveformRequest {
  readonly mediaId: number
  readonly stationId: number
  readonly path: string
  readonly attempts: number
  readonly requestedAtMs: number
}

/** Takes the oldest request that no process works on; null if there is none. */
export async function dequeueWaveformRequest(
  sql: Sql,
  nowMs: number,
  leaseMs: number
): Promise<WaveformRequest | null> {
  const [taken] = await sql<WaveformRequest[]>`
    update media_waveforms w set leased_until_ms = ${nowMs + leaseMs}, attempts = attempts + 1
    from media m
    where m.id = w.media_id and w.media_id = (
      select media_id from media_waveforms
      where requested_at_ms is not null and leased_until_ms <= ${nowMs}
      order by requested_at_ms limit 1 for update skip locked)
    returning m.id as "mediaId", m.station_id as "stationId", w.path, w.attempts,
      w.requested_at_ms as "requestedAtMs"`
  return taken ?? null
}

/** The end of a request: the columns of the row. */
type WaveformOutcome =
  | { readonly failure: string }
  | { readonly sample_rate: number; readonly samples_per_pixel: number; readonly peaks: Uint8Array }

/** Stores the outcome, unless the waveform was requested again because the file has changed. */
export async function storeWaveform(
  sql: Sql,
  { mediaId, requestedAtMs }: WaveformRequest,
  outcome: WaveformOutcome,
  nowMs: number
): Promise<void> {
  await sql`
    update media_waveforms set ${sql({ failure: '', ...outcome, made_at_ms: nowMs })}, requested_at_ms = null
    where media_id = ${mediaId} and requested_at_ms = ${requestedAtMs}`
}

/** Stores a waveform that a client has made, instead of a requested one. */
export async function replaceWaveform(
  sql: Sql | Tx,
  mediaId: number,
  waveform: Exclude<WaveformOutcome, { readonly failure: string }>,
  nowMs: number
): Promise<void> {
  const { sample_rate, samples_per_pixel, peaks } = waveform
  await sql`
    insert into media_waveforms (media_id, path, size_bytes, modified_ms, made_at_ms, sample_rate, samples_per_pixel, peaks)
    select id, path, size_bytes, modified_ms, ${nowMs}, ${sample_rate}, ${samples_per_pixel}, ${peaks}
    from media where id = ${mediaId}
    on conflict (media_id) do update set path = excluded.path, size_bytes = excluded.size_bytes,
      modified_ms = excluded.modified_ms, requested_at_ms = null, attempts = 0, failure = '',
      made_at_ms = excluded.made_at_ms, sample_rate = excluded.sample_rate,
      samples_per_pixel = excluded.samples_per_pixel, peaks = excluded.peaks`
}

/** Returns a request of a process that stops. */
export async function returnWaveformRequest(sql: Sql, { mediaId, requestedAtMs }: WaveformRequest) {
  await sql`
    update media_waveforms set leased_until_ms = 0, attempts = attempts - 1
    where media_id = ${mediaId} and requested_at_ms = ${requestedAtMs}`
}
