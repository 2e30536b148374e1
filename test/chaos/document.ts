import { renderElapsed, renderNowPlaying } from '../../src/model/station/now-playing.ts'
import { readSnapshots } from '../../src/stores/db/snapshots.ts'
import type { Sql } from '../../src/stores/db/sql.ts'

/**
 * Fields that depend on the time, counts (Postgres has them later), and fields that differ between REST and
 * push.
 */
const leftOut = new Set([
  'elapsed',
  'remaining',
  'listeners',
  'hls_listeners',
  'cache',
  'broadcast_start',
  'custom_fields'
])

/**
 * Returns a text that is equal for now-playing documents with the same content, whenever they were sent and
 * whether they were polled or pushed.
 */
export function contentOf(document: unknown): string {
  const keep = (name: string, value: unknown) => {
    if (leftOut.has(name)) return undefined
    // Only for streamers: songs always have artwork.
    return name === 'art' && (value === null || value === '') ? undefined : value
  }
  return JSON.stringify(document, keep)
}

/** The now-playing document of a station according to Postgres. */
export interface ExpectedDocument {
  readonly stationId: number
  readonly epoch: string
  readonly content: string
}

/** Reads the documents of stations in one snapshot. Unknown ids are omitted. */
export async function readExpectedDocuments(
  sql: Sql,
  stationIds: readonly number[],
  baseUrl: string
): Promise<ExpectedDocument[]> {
  const snapshots = await readSnapshots(sql, stationIds)
  return snapshots.map(each => {
    const document = renderNowPlaying({ ...each, offset: 0 }, 'event', baseUrl)
    const text = `${document.head}${renderElapsed(document, 0)}${document.tail}`
    return { stationId: each.stationId, epoch: each.epoch, content: contentOf(JSON.parse(text)) }
  })
}
