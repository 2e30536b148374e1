import { parseUploadPath } from '../../../model/songs/library-path.ts'
import { assertNoFieldErrors, refuseField } from '../../../platform/runtime/errors.ts'
import type { Sql } from '../../../stores/db/sql.ts'
import { findUnknownElements } from '../../core/parse.ts'

const maxPlaylists = 100

/** The path of a file that is to be stored. Throws 400 with the name of the field. */
export function parseUploadTarget(text: string, field = 'path'): string {
  const parsed = parseUploadPath(text)
  if ('problem' in parsed) refuseField(field, 'invalid_format', parsed.problem)
  return parsed.path
}

interface NamedText {
  readonly field: string
  readonly text: string
}

/** The path of a file with a name in a folder. Throws 400 with the field of the one that is wrong. */
export function parseUploadTargetIn(folder: NamedText, name: NamedText): string {
  const isNameUsable = 'path' in parseUploadPath(name.text)
  const field = isNameUsable ? folder.field : name.text === '' ? 'path' : name.field
  return parseUploadTarget(joinFolderAndName(folder.text, name.text), field)
}

/** The path of a file from a folder and a name; empty if it is not one. */
export function composeUploadTarget(folder: string, name: string): string {
  const parsed = parseUploadPath(joinFolderAndName(folder, name))
  return 'path' in parsed ? parsed.path : ''
}

/** Joins a folder, in which slashes around it do not matter, and a name. */
export function joinFolderAndName(folder: string, name: string): string {
  const inner = folder.replace(/^\/+|\/+$/g, '')
  return inner === '' ? name : `${inner}/${name}`
}

/** Parses ids that are separated by commas. */
export function parsePlaylistIds(text: string, field = 'playlists'): number[] {
  const parts = text.split(',').map(part => part.trim())
  const ids = parts.filter(part => part !== '')
  if (ids.length > maxPlaylists) refuseField(field, 'too_many', `must have at most ${maxPlaylists} ids.`)
  if (!ids.every(id => /^[1-9]\d{0,14}$/.test(id)))
    refuseField(field, 'invalid_format', 'must be ids, separated by commas.')
  return [...new Set(ids.map(Number))]
}

/** Throws 400 unless each is a playlist of the station that has songs. */
export async function assertSongPlaylists(
  sql: Sql,
  stationId: number,
  ids: readonly number[]
): Promise<void> {
  if (ids.length === 0) return
  const rows = await sql<{ id: number }[]>`
    select id from playlists where station_id = ${stationId} and source = 'songs'
      and id = any(${[...ids]}::bigint[])`
  const known = new Set(rows.map(({ id }) => id))
  assertNoFieldErrors(
    findUnknownElements(ids, known, 'playlists.', 'is not a playlist of songs of the station.')
  )
}
