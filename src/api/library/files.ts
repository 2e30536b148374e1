import { randomBytes } from 'node:crypto'

import * as v from 'valibot'

import { artId } from '../../db/snapshots.ts'
import { custom, readOnly, integer, listOf, privateAddress, problem, text } from '../../fields/field.ts'
import type { StationChange } from '../../playout/change-station.ts'
import { markMedia, renameOpenPlay, resizeQueued, withdrawMedia } from '../../playout/queue/media.ts'
import { refillQueue } from '../../playout/queue/queue.ts'
import { ApiError, type FieldError } from '../../runtime/errors.ts'
import { artistKeys, titleKey } from '../../songs/clash-keys.ts'
import { libraryPath, maxPathBytes } from '../../songs/library-path.ts'
import { longest, songId, songText, titleOf } from '../../songs/song.ts'
import { artUrl } from '../../station/now-playing.ts'
import { resourceRoutes } from '../core/resource-routes.ts'
import { resource, type ResourceRules, type StoredRecord, type Write } from '../core/resource.ts'
import { changeCustomValues, customValues, unknownFields } from './custom-fields.ts'
import { mediaFolderOf } from './media-folder.ts'

/** Made by the server: what a body says of it is ignored. */
const made = (about: string) =>
  custom(
    v.pipe(
      v.unknown(),
      v.transform(() => '')
    ),
    { fallback: '', schema: { type: 'string', readOnly: true }, about }
  )

const path = v.pipe(
  v.string(problem('invalid_type', 'must be text.')),
  v.check(
    value => !/\0|\p{Surrogate}/u.test(value),
    problem('invalid_format', 'holds characters that are not allowed.')
  ),
  v.check(value => value.trim() !== '', problem('blank', 'must not be empty.')),
  v.check(
    value => Buffer.byteLength(value) <= maxPathBytes,
    problem('too_long', `must have at most ${maxPathBytes} bytes.`)
  )
)

const wholeId = integer({ min: 1, max: Number.MAX_SAFE_INTEGER, about: 'id' }).input
const most = 500

/** A song of a station's library, by what is known of it. */
export const files = resource({
  name: 'StationFile',
  title: 'song of the library',
  tag: 'Files',
  table: 'media',
  // Entries of lists that were fetched from elsewhere are no files.
  only: 'remote_playlist_id is null',
  paths: { list: '/api/station/:station_id/files', one: '/api/station/:station_id/file/:id' },
  access: { read: 'view station management', write: 'manage station media' },
  fields: {
    unique_id: made('Names the song in the address of its cover.'),
    song_id: made('32 hexadecimal digits, the same for the same artist and title.'),
    art: readOnly<string>({ schema: { type: 'string', format: 'uri' }, about: 'Its cover.' }),
    path: privateAddress(
      custom(path, {
        schema: { type: 'string', minLength: 1, maxLength: maxPathBytes },
        about:
          'An address, or a path below the media folder; unique in the station. No file needs to be there.',
        example: 'Kimiko Ishizaka/Aria.mp3'
      })
    ),
    title: text({
      max: longest.title,
      fallback: '',
      isTrimmed: true,
      about: 'Made from the path where a new song has neither artist nor title.',
      example: 'Aria'
    }),
    artist: text({ max: longest.artist, fallback: '', isTrimmed: true, about: 'Who plays it.' }),
    album: text({ max: longest.album, fallback: '', isTrimmed: true, about: 'Where it was published.' }),
    genre: text({ max: longest.genre, fallback: '', isTrimmed: true, about: 'What kind of music it is.' }),
    isrc: text({ max: longest.isrc, fallback: '', isTrimmed: true, about: 'The code of the recording.' }),
    lyrics: text({ max: longest.lyrics, fallback: '', isLong: true, about: 'Its words.' }),
    text: readOnly<string>({ schema: { type: 'string' }, about: 'Artist and title.' }),
    length: {
      ...integer({ min: 0, max: 2_147_483, fallback: 0, about: 'Seconds; 0: not known.', example: 300 }),
      isStored: false
    },
    size: readOnly<number>({ schema: { type: 'integer', format: 'int64' }, about: 'Bytes of the file.' }),
    mtime: readOnly<number>({
      schema: { type: 'integer', format: 'int64' },
      about: 'When the file was changed: Unix seconds.'
    }),
    playlists: {
      ...listOf<number>(wholeId, {
        max: most,
        items: { type: 'integer', format: 'int64', minimum: 1 },
        about: 'The ids of the playlists it is in; a list in a body replaces all.'
      }),
      isStored: false
    },
    custom_fields: { ...customValues, isStored: false }
  },
  search: ['title', 'artist', 'album', 'path'],
  sort: ['id', 'path', 'title', 'artist', 'album', 'genre'],
  order: 'path',
  unique: { media_station_id_path_key: 'path' },
  shows: 'by rules'
})

type FileFields = typeof files.fields

interface Unstored {
  id: number
  artId: string
  length: number
  size: number
  mtime: number
  playlists: number[]
  customFields: Record<string, string>
}

const rules: ResourceRules<FileFields> = {
  async prepare(write) {
    const { before, values } = write
    const problems = [
      ...(await pathProblems(write)),
      ...(await playlistProblems(write)),
      ...(await unknownFields(write.tx, values.custom_fields))
    ]
    if (!before && values.title === '' && values.artist === '') values.title = titleOf(values.path)
    values.unique_id = before?.unique_id ?? randomBytes(12).toString('hex')
    const isSameSong = before?.artist === values.artist && before.title === values.title
    values.song_id = isSameSong ? before.song_id : songId(songText(values.artist, values.title))
    values.playlists = [...new Set(values.playlists)].toSorted((a, b) => a - b)
    values.custom_fields = { ...before?.custom_fields, ...values.custom_fields }
    return problems
  },
  async wrote({ tx, change, before, values }, id) {
    if (!change) return
    const { station } = change
    const isResized = values.length !== (before?.length ?? 0)
    const isRenamed = before?.artist !== values.artist || before.title !== values.title
    if (isResized) await tx`update media set duration_ms = ${values.length * 1000} where id = ${id}`
    if (isRenamed)
      await tx`update media set title_key = ${titleKey(values.title)}, artist_keys = ${artistKeys(values.artist)}
        where id = ${id}`
    if (before && isResized) await resizeQueued(tx, station.id, id)
    await changeCustomValues(tx, id, before?.custom_fields ?? {}, values.custom_fields)
    const isMoved = await movePlaylists(change, id, before?.playlists ?? [], values.playlists)
    if (before) await renameOpenPlay(tx, station.id, id)
    if (before) await markMedia(change, id)
    if (isMoved || (before && isResized)) await refillQueue(change)
  },
  async deleting({ tx, change, before }) {
    const [sent] = await tx`select from queue
      where media_id = ${before.id} and is_sent and played_at_ms is null and skipped_at_ms is null`
    if (sent) throw new ApiError('conflict', 'The song has already been sent to the playout.')
    if (change) await markMedia(change, before.id)
  },
  async deleted({ change }) {
    if (change) await refillQueue(change)
  },
  async shown(rows, { sql, services, station }) {
    const ids = rows.map(({ id }) => id)
    const found = await sql<Unstored[]>`
      select m.id, ${artId(sql)} as "artId", m.duration_ms / 1000 as length, m.size_bytes as size,
        m.modified_ms / 1000 as mtime,
        coalesce((select jsonb_agg(distinct t.playlist_id order by t.playlist_id)
          from playlist_tracks t where t.media_id = m.id), '[]') as playlists,
        coalesce((select jsonb_object_agg(f.short_name, coalesce(x.value, ''))
          from custom_fields f left join media_custom_fields x on x.field_id = f.id and x.media_id = m.id), '{}')
          as "customFields"
      from media m where m.id = any(${ids}::bigint[])`
    const byId = new Map(found.map(row => [row.id, row]))
    return rows.map(row => {
      const more = byId.get(row.id)
      return {
        art: artUrl(more?.artId ?? '', station?.shortName ?? '', services.config.BASE_URL),
        text: songText(row.artist, row.title),
        length: more?.length ?? 0,
        size: more?.size ?? 0,
        mtime: more?.mtime ?? 0,
        playlists: more?.playlists ?? [],
        custom_fields: more?.customFields ?? {}
      }
    })
  }
}

/** A path that stays is as good as it was: an import takes names from the disk as they are. */
async function pathProblems({
  tx,
  services,
  station,
  before,
  values
}: Write<FileFields>): Promise<FieldError[]> {
  if (values.path === before?.path) return []
  const result = libraryPath(
    values.path,
    station && (await mediaFolderOf(tx, station.id, services.config.DATA_DIR))
  )
  if ('problem' in result)
    return [{ field: 'path', code: 'invalid_format', message: `path ${result.problem}` }]
  values.path = result.path
  return []
}

async function playlistProblems({ tx, station, values }: Write<FileFields>): Promise<FieldError[]> {
  if (values.playlists.length === 0) return []
  const rows = await tx<{ id: number }[]>`
    select id from playlists where station_id = ${station?.id ?? null}
      and id = any(${values.playlists}::bigint[])`
  const known = new Set(rows.map(({ id }) => id))
  return values.playlists.flatMap((id, index) => {
    const field = `playlists.${index}`
    return known.has(id)
      ? []
      : [{ field, code: 'not_found', message: `${field} is none of the station's playlists.` }]
  })
}

/** Puts a song into playlists and takes it out of others. Gives whether anything changed. */
async function movePlaylists(
  change: StationChange,
  mediaId: number,
  before: StoredRecord<FileFields>['playlists'],
  after: StoredRecord<FileFields>['playlists']
): Promise<boolean> {
  const { tx } = change
  const left = before.filter(id => !after.includes(id))
  const joined = after.filter(id => !before.includes(id))
  if (left.length > 0) {
    await withdrawMedia(change, mediaId, left)
    await tx`delete from playlist_tracks where media_id = ${mediaId} and playlist_id = any(${left}::bigint[])`
  }
  if (joined.length > 0)
    await tx`
      insert into playlist_tracks (playlist_id, media_id, position)
      select p.id, ${mediaId}::bigint,
        coalesce((select max(position) from playlist_tracks t where t.playlist_id = p.id), 0) + 1
      from unnest(${joined}::bigint[]) as p (id)
      on conflict (playlist_id, media_id) do nothing`
  return left.length + joined.length > 0
}

/** Deleting takes a right of its own. */
export const fileRoutes = resourceRoutes(files, rules).map(route =>
  route.method === 'DELETE' ? { ...route, access: 'delete station media' as const } : route
)
