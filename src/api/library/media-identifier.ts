import { ApiError } from '../../platform/runtime/errors.ts'
import type { Fragment, Sql, Tx } from '../../stores/db/sql.ts'

/** A song as a path names it: by one of these. The others match nothing. */
export interface MediaIdentifier {
  readonly id: number
  /** Of the media, as in the address of its cover. */
  readonly uniqueId: string
  /** Of artist and title, which several media may have. */
  readonly songId: string
}

/** Parses the name of a song in a path: `12`, a unique id or a song id, also `<name>-<version>.json`. Throws 404. */
export function parseMediaIdentifier(text = ''): MediaIdentifier {
  const [, id = '', uniqueId = '', songId = ''] =
    /^(?:(0|[1-9]\d{0,14})|([0-9a-f]{24})|([0-9a-f]{32}))(?:-\w+)?(?:\.(?:json|jpg))?$/.exec(text) ?? []
  if (id + uniqueId + songId === '') throw new ApiError('not-found')
  return { id: id === '' ? -1 : Number(id), uniqueId, songId }
}

/** SQL: whether media `m` has the name. The unique id of an unknown song is never empty. */
export const hasMediaIdentifierFragment = (
  sql: Sql | Tx,
  { id, uniqueId, songId }: MediaIdentifier
): Fragment => sql`(m.id = ${id} or m.unique_id = ${uniqueId} or m.song_id = ${songId})`
