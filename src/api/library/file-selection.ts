import * as v from 'valibot'

import { type MediaStore, openUsableMediaStore } from '../../library/uploads/media-store.ts'
import type { JsonSchema } from '../../model/fields/field.ts'
import { refuseField } from '../../platform/runtime/errors.ts'
import { findStoredFolder, findStoredSongs } from '../../stores/db/library/stored-names.ts'
import { type ApiRequest, getRequestStation } from '../core/route.ts'
import type { ApiServices } from '../core/services.ts'
import { folderPrefix } from './media-paths.ts'

/** The most songs that one action may change. */
export const maxFilesPerAction = 2_000
/** After this time a part of an action ends: less than a request may take, also if the storage is slow. */
const partMs = 10_000

/** A path or a name in a body. */
export const pathTextValidator = v.pipe(
  v.string('must be text.'),
  v.check(value => !value.includes('\0'), 'is not valid.')
)
const limitText = `must be a whole number from 1 to ${maxFilesPerAction}.`

/** The fields of an action on folders that is done in parts. */
export const actionPartFields = {
  after: v.nullish(pathTextValidator),
  limit: v.nullish(
    v.pipe(
      v.number(limitText),
      v.integer(limitText),
      v.minValue(1, limitText),
      v.maxValue(maxFilesPerAction, limitText)
    )
  )
}

/** The schemas of these fields, and of what a response has for them. */
export const actionPartSchemas: Readonly<Record<'after' | 'limit', JsonSchema>> = {
  after: {
    type: 'string',
    description: `Does a part of the action: songs of the folders whose path follows this one, "" at first, for some ${partMs / 1000} seconds at most. Send the next request with \`next\` of the response.`
  },
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: maxFilesPerAction,
    default: maxFilesPerAction,
    description: 'With after: the most songs of the part.'
  }
}
export const nextAfterSchema: JsonSchema = {
  type: ['string', 'null'],
  description: 'With after: the path of the last song that was tried; null at the end.'
}

interface PartBody {
  readonly after?: string | null | undefined
  readonly limit?: number | null | undefined
}

/** A part of an action: of the songs behind a path, at most `limit`. */
export interface ActionPart {
  readonly after: string
  readonly limit: number
}

/** The part that a body asks for; null: the whole action. Throws 400 for a limit without `after`. */
export function parseActionPart({ after = null, limit = null }: PartBody): ActionPart | null {
  if (after !== null) return { after, limit: limit ?? maxFilesPerAction }
  if (limit !== null) refuseField('limit', 'not_allowed', 'can be sent only with after.')
  return null
}

/** A song of the library that an action changes. */
export interface SelectedSong {
  readonly id: number
  readonly path: string
}

/** What the steps of an action share. */
export interface FileAction {
  readonly request: ApiRequest
  readonly services: ApiServices
  readonly stationId: number
  readonly media: MediaStore
}

/** Opens the media storage of the station in the path. Throws 400 if it cannot be used. */
export async function openFileAction(request: ApiRequest, services: ApiServices): Promise<FileAction> {
  const stationId = getRequestStation(request).id
  return { request, services, stationId, media: await openUsableMediaStore(services, stationId) }
}

interface SelectionOptions {
  readonly files?: readonly string[]
  readonly dirs?: readonly string[]
  /** Null: all songs. */
  readonly part?: ActionPart | null
  /** The field that names the folders. */
  readonly field?: string
}

/** The files and folders of a request as they are stored. Unknown ones remain as they are. */
export async function findStoredNames(
  { services: { sql }, stationId }: Pick<FileAction, 'services' | 'stationId'>,
  { files, dirs }: { readonly files: readonly string[]; readonly dirs: readonly string[] }
): Promise<{ readonly files: readonly string[]; readonly dirs: readonly string[] }> {
  const songs = await findStoredSongs(sql, stationId, files)
  const folders: string[] = []
  for (const dir of dirs) folders.push((await findStoredFolder(sql, stationId, dir)) ?? dir)
  return { files: files.map(path => songs.get(path)?.path ?? path), dirs: folders }
}

/**
 * Reads the songs at these paths and below these folders, ordered by path. Without `part`, throws 400 for more than
 * `maxFilesPerAction` songs; the error names `field`.
 */
export async function selectSongs(
  { services: { sql }, stationId }: FileAction,
  { files = [], dirs = [], part = null, field = 'dirs' }: SelectionOptions
): Promise<{ readonly songs: readonly SelectedSong[]; readonly hasMore: boolean }> {
  const prefixes = dirs.map(folderPrefix)
  assertNotTopFolder(dirs, field)
  const limit = part?.limit ?? maxFilesPerAction
  const songs = await sql<SelectedSong[]>`
    select id, path from media m where station_id = ${stationId} and remote_playlist_id is null
      and (path = any(${[...files]}::text[])
        or exists (select from unnest(${prefixes}::text[]) p where starts_with(m.path, p)))
      ${part === null || part.after === '' ? sql`` : sql`and path > ${part.after}`}
    order by path limit ${limit + 1}`
  const hasMore = songs.length > limit
  if (hasMore && part === null)
    refuseField(
      field,
      'too_many',
      `must contain at most ${maxFilesPerAction} songs at once; send after to change more in parts.`
    )
  return { songs: songs.slice(0, limit), hasMore }
}

/**
 * Works on songs in their order, on `groupSize` at a time, as long as `isOpen`, a part of them for a limited time.
 * Returns the path of the last one if there are more, else null.
 */
export async function forEachSongGroup(
  { songs, hasMore }: { readonly songs: readonly SelectedSong[]; readonly hasMore: boolean },
  {
    part,
    isOpen,
    groupSize = 1
  }: { readonly part: ActionPart | null; readonly isOpen: () => boolean; readonly groupSize?: number },
  work: (group: readonly SelectedSong[]) => Promise<void>
): Promise<string | null> {
  const endMs = part === null ? Infinity : performance.now() + partMs
  let last: string | null = null
  for (let start = 0; start < songs.length; start += groupSize) {
    if (last !== null && performance.now() > endMs) return last
    if (!isOpen()) return last
    const group = songs.slice(start, start + groupSize)
    await work(group)
    last = group.at(-1)?.path ?? null
  }
  return hasMore ? last : null
}

/** Throws 400 with this field if one of the folders is the top folder. */
export function assertNotTopFolder(dirs: readonly string[], field = 'dirs'): void {
  if (dirs.map(folderPrefix).includes(''))
    refuseField(field, 'invalid_format', 'must not contain the top folder.')
}
