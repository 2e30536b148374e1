import { ApiError } from '../../../../platform/runtime/errors.ts'
import { isInFolderFragment } from '../../../../stores/db/library/playlist-folders.ts'
import { int64, string } from '../../../core/schemas.ts'
import { hasMediaIdentifierFragment, parseMediaIdentifier } from '../../../library/media-identifier.ts'
import {
  keepDocumentedSchema,
  declareChangedRecord,
  computedMember,
  shownMember
} from '../../declare-record.ts'
import {
  type DialectContext,
  isJsonBody,
  type JsonBody,
  type OperationDialect
} from '../../record-dialect.ts'
import { filePlaylistsSchema, linksSchema } from '../../response-schema.ts'
import { computeArtVersion } from './art-version.ts'
import { deriveAzuracastShortName } from './playlist.ts'

/** The documented record. */
export type FileRecord = {
  readonly id: number
  readonly unique_id: string
  readonly artist: string
  readonly title: string
  readonly album: string
  readonly genre: string
  readonly isrc: string
  readonly lyrics: string
  readonly length: number
  readonly custom_fields: Readonly<Record<string, string>>
}

export const fileDialect = declareChangedRecord<FileRecord, ReadonlyMap<number, FileExtras>>({
  emptyAsNull: ['title', 'artist', 'album', 'genre', 'isrc', 'lyrics'],
  members: {
    text: shownMember(string, ({ artist, title }) => `${artist} - ${title}`),
    length_text: computedMember(
      string,
      ({ length }) => `${Math.floor(length / 60)}:${String(length % 60).padStart(2, '0')}`
    ),
    uploaded_at: computedMember(int64, ({ id }, { extras }) => extras.get(id)?.uploadedAt ?? 0),
    art_updated_at: computedMember(int64, ({ id }, { extras }) =>
      computeArtVersion(extras.get(id)?.artHash ?? null)
    ),
    // Fields without a value are absent.
    custom_fields: shownMember(keepDocumentedSchema, row =>
      Object.fromEntries(Object.entries(row.custom_fields).filter(([, value]) => value !== ''))
    ),
    playlists: shownMember(filePlaylistsSchema, ({ id }, { extras }) =>
      (extras.get(id)?.playlists ?? []).map(renderFilePlaylist)
    ),
    links: computedMember(linksSchema, ({ id, unique_id }, { extras, stationLink }) => ({
      self: stationLink(`file/${id}`),
      play: stationLink(`file/${id}/play`),
      art: stationLink(`art/${id}`),
      waveform: stationLink(
        `waveform/${unique_id}-${computeArtVersion(extras.get(id)?.artHash ?? null)}.json`
      ),
      waveform_cache: stationLink(`waveform/${unique_id}`)
    }))
  },
  // Files that were deleted meanwhile have none.
  async read(rows, { sql, stationId }) {
    const found = await sql<FileExtras[]>`
      select m.id, floor(extract(epoch from m.created_at))::int as "uploadedAt",
        m.artwork_hash as "artHash",
        coalesce((
          select jsonb_agg(jsonb_build_object('id', p.id, 'name', p.name, 'count', t.count, 'folder', case when t.is_from_folder then (
            select min(f.path) from playlist_folders f where f.playlist_id = p.id and ${isInFolderFragment(sql, stationId)}
          ) end) order by p.id)
          from (
            select playlist_id, count(*), bool_and(is_from_folder) as is_from_folder from playlist_tracks
            where media_id = m.id or repeated_media_id = m.id group by playlist_id
          ) t join playlists p on p.id = t.playlist_id), '[]') as playlists
      from media m where m.id = any(${rows.map(({ id }) => id)}::bigint[])`
    return new Map(found.map(each => [each.id, each]))
  },
  // A playlist as it is shown; its id counts.
  fields: { playlists: {} },
  async parse(sent, context) {
    const { sql } = context
    const body = { ...sent, ...(await keepFolderPlaylists(sent, context)) }
    const { custom_fields: values } = body
    if (!isJsonBody(values)) return body
    const fields = await sql<{ id: number; name: string }[]>`select id, short_name as name from custom_fields`
    const names = new Map(fields.map(({ id, name }) => [String(id), name]))
    // They may be named by id, and all that are not named are cleared.
    const cleared = fields.map(({ name }) => [name, null])
    const given = Object.entries(values).map(([name, value]) => [
      names.get(name) ?? name,
      typeof value === 'number' ? String(value) : value
    ])
    return { ...body, custom_fields: Object.fromEntries([...cleared, ...given]) }
  }
})

/** A file in a path may be named by its unique id or song id as well. */
export const fileInPathDialect: OperationDialect = {
  async params({ request: { params }, services: { sql }, stationId }) {
    const { id: name = '' } = params
    if (!/^(?:[0-9a-f]{24}|[0-9a-f]{32})$/.test(name)) return params
    const [media] = await sql<{ id: number }[]>`
      select id from media m where ${hasMediaIdentifierFragment(sql, parseMediaIdentifier(name))}
        and station_id = ${stationId} and remote_playlist_id is null
      order by id limit 1`
    if (!media) throw new ApiError('not-found')
    return { ...params, id: String(media.id) }
  }
}

/**
 * A playlist of a file or a folder. `folder` is where it comes from; null: from itself. `count` is how often it has the
 * song.
 */
export const renderFilePlaylist = ({ id, name, folder, count = 1 }: FilePlaylist) => ({
  id,
  name,
  short_name: deriveAzuracastShortName(name),
  folder,
  count
})

/** AzuraCast leaves songs in the playlists of their folders, whatever a body says. */
async function keepFolderPlaylists(
  { playlists }: JsonBody,
  { request, sql, stationId }: DialectContext
): Promise<JsonBody> {
  const id = request.params['id'] ?? ''
  if (!Array.isArray(playlists) || !/^\d{1,15}$/.test(id)) return {}
  const kept = await sql<{ id: number }[]>`
    select p.id from media m join playlists p on p.station_id = m.station_id
      join playlist_tracks t on t.playlist_id = p.id and t.media_id = m.id
    where m.id = ${id}::bigint and m.station_id = ${stationId} and t.is_from_folder`
  const sent: unknown[] = playlists
  return { playlists: [...sent, ...kept.map(playlist => playlist.id)] }
}

interface FilePlaylist {
  readonly id: number
  readonly name: string
  readonly count?: number
  readonly folder: string | null
}

interface FileExtras {
  readonly id: number
  readonly uploadedAt: number
  readonly artHash: string | null
  readonly playlists: readonly FilePlaylist[]
}
