import * as v from 'valibot'

import { type MediaStore, openUsableMediaStore } from '../../uploads/media-store.ts'
import { refuseField } from '../core/parse.ts'
import { type ApiRequest, stationOf } from '../core/route.ts'
import type { ApiServices } from '../core/services.ts'
import { folderPrefix } from './media-paths.ts'

/** The most songs that one action may change. */
export const maxFiles = 2_000

/** A path or a name in a body. */
export const pathText = v.pipe(
  v.string('must be text.'),
  v.check(value => !value.includes('\0'), 'is not valid.')
)
/** A song of the library that an action changes. */
export interface Song {
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
export async function openAction(request: ApiRequest, services: ApiServices): Promise<FileAction> {
  const stationId = stationOf(request).id
  return { request, services, stationId, media: await openUsableMediaStore(services, stationId) }
}

/** Reads the songs at these paths and below these folders. If there are too many, throws 400, which names `field`. */
export async function findSongs(
  { services: { sql }, stationId }: FileAction,
  files: readonly string[],
  dirs: readonly string[],
  field = 'dirs'
) {
  const prefixes = dirs.map(folderPrefix)
  if (prefixes.includes('')) refuseField(field, 'invalid_format', 'must not contain the top folder.')
  const songs = await sql<Song[]>`
    select id, path from media m where station_id = ${stationId} and remote_playlist_id is null
      and (path = any(${[...files]}::text[])
        or exists (select from unnest(${prefixes}::text[]) p where starts_with(m.path, p)))
    order by path limit ${maxFiles + 1}`
  if (songs.length > maxFiles)
    refuseField(field, 'too_many', `must contain at most ${maxFiles} songs at once.`)
  return songs
}
