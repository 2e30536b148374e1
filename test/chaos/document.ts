import { readSnapshots } from '../../src/db/snapshots.ts'
import type { Sql } from '../../src/db/sql.ts'
import { renderElapsed, renderNowPlaying } from '../../src/station/now-playing.ts'

/** Members that move with the time, and those in which the renderings for REST and for push differ. */
const leftOut = new Set(['elapsed', 'remaining', 'cache', 'broadcast_start', 'custom_fields'])

/**
 * A now-playing document as a text that two documents of the same content have in common, whenever they were
 * sent and whether they were polled or pushed.
 */
export function contentOf(document: unknown): string {
  const keep = (name: string, value: unknown) => {
    if (leftOut.has(name)) return undefined
    // Only of a streamer: songs always have a picture.
    return name === 'art' && (value === null || value === '') ? undefined : value
  }
  return JSON.stringify(document, keep)
}

/** What a station shows by the facts in Postgres. */
export interface Truth {
  readonly stationId: number
  readonly epoch: string
  readonly content: string
}

/** Reads the truth about stations in one snapshot; unknown ids are left out. */
export async function readTruths(sql: Sql, stationIds: readonly number[], baseUrl: string): Promise<Truth[]> {
  const snapshots = await readSnapshots(sql, stationIds)
  return snapshots.map(each => {
    const document = renderNowPlaying({ ...each, offset: 0 }, 'event', baseUrl)
    const text = `${document.head}${renderElapsed(document, 0)}${document.tail}`
    return { stationId: each.stationId, epoch: each.epoch, content: contentOf(JSON.parse(text)) }
  })
}
