import type { CuePoint, CuePoints } from '../../../model/songs/cue-points.ts'
import type { Sql, Tx } from '../sql.ts'

/** The columns of `media` with cue points, fades and gain. */
export const cueColumns = {
  cueInMs: 'cue_in_ms',
  cueOutMs: 'cue_out_ms',
  startNextMs: 'start_next_ms',
  fadeInMs: 'fade_in_ms',
  fadeOutMs: 'fade_out_ms',
  amplifyDb: 'amplify_db'
} as const satisfies Record<CuePoint, string>

/** The cue points of a media `m` as an object. */
export const cuesFragment = (sql: Sql | Tx) => sql`jsonb_build_object(
  'cueInMs', m.cue_in_ms, 'cueOutMs', m.cue_out_ms, 'startNextMs', m.start_next_ms,
  'fadeInMs', m.fade_in_ms, 'fadeOutMs', m.fade_out_ms, 'amplifyDb', m.amplify_db)`

/** How long a media `m` is heard, in milliseconds; 0: unknown. */
export const onAirMsFragment = (sql: Sql | Tx) => sql`on_air_ms(m.duration_ms, m.cue_in_ms, m.cue_out_ms)`

/** How long a media `m` overlaps with the next song, in milliseconds; null: as the station defines it. */
export const overlapMsFragment = (sql: Sql | Tx) =>
  sql`overlap_ms(m.duration_ms, m.cue_in_ms, m.cue_out_ms, m.start_next_ms)`

/** The values of the columns. */
export const toCueColumns = (cues: CuePoints) => ({
  cue_in_ms: cues.cueInMs,
  cue_out_ms: cues.cueOutMs,
  start_next_ms: cues.startNextMs,
  fade_in_ms: cues.fadeInMs,
  fade_out_ms: cues.fadeOutMs,
  amplify_db: cues.amplifyDb
})

/** The key under which a playout stores the cue points that it computed of a media `m`: its id and file version. */
export const cueCacheKeyFragment = (sql: Sql | Tx) => sql`m.unique_id || '-' || m.modified_ms`
