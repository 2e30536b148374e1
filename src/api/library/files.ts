import * as v from 'valibot'

import type { StationChange } from '../../engine/change-station.ts'
import {
  markPartsShowingMedia,
  updateCurrentPlayTexts,
  updateQueuedDurations,
  removeQueuedMedia
} from '../../engine/queue/media-changes.ts'
import { refillQueue } from '../../engine/queue/queue.ts'
import { findMediaFolder } from '../../library/storage/media-folder.ts'
import {
  validatedField,
  readOnlyField,
  integerField,
  listField,
  maskedAddressField,
  formatCheckMessage,
  textField,
  type ValuesOf
} from '../../model/fields/field.ts'
import { type CuePoint, noCuePoints } from '../../model/songs/cue-points.ts'
import { artistKeys, titleKey } from '../../model/songs/duplicate-keys.ts'
import { parseLibraryPath, maxPathBytes } from '../../model/songs/library-path.ts'
import {
  generateUniqueId,
  maxTagLengths,
  computeSongId,
  formatSongText,
  titleFromPath
} from '../../model/songs/song.ts'
import { songArtUrl } from '../../model/station/now-playing.ts'
import { ApiError, fieldError, type FieldError } from '../../platform/runtime/errors.ts'
import { markCorrectedTexts, correctableTextColumns } from '../../stores/db/library/corrections.ts'
import { cuesFragment } from '../../stores/db/library/cue-columns.ts'
import { toListedArtistsColumns } from '../../stores/db/library/media-rows.ts'
import { syncFolderSongs } from '../../stores/db/library/playlist-folders.ts'
import { findStoredSongs } from '../../stores/db/library/stored-names.ts'
import { artIdFragment } from '../../stores/db/snapshots.ts'
import type { Tx } from '../../stores/db/sql.ts'
import { findUnknownElements } from '../core/parse.ts'
import { openResourceReads } from '../core/resource-reads.ts'
import { openResourceOperations } from '../core/resource-routes.ts'
import {
  type ResourceDeletion,
  defineResource,
  type ResourceHooks,
  type ResourceWrite
} from '../core/resource.ts'
import { findSongUrlProblem } from '../core/url-checks.ts'
import { customFieldValuesField, findUnknownCustomFields, updateCustomFieldValues } from './custom-fields.ts'
import {
  extraMetadataField,
  findChangedCues,
  findExtraMetadataProblems,
  toExtraMetadata,
  updateCuePoints
} from './extra-metadata.ts'

/** A stored field that the server computes; input is ignored. */
const computed = (about: string) => {
  const input = v.pipe(
    v.unknown(),
    v.transform(() => '')
  )
  return validatedField(input, { fallback: '', schema: { type: 'string', readOnly: true }, about })
}

const path = v.pipe(
  v.string(formatCheckMessage('invalid_type', 'must be text.')),
  v.check(
    value => !/\0|\p{Surrogate}/u.test(value),
    formatCheckMessage('invalid_format', 'contains characters that are not allowed.')
  ),
  v.check(value => value.trim() !== '', formatCheckMessage('blank', 'must not be empty.')),
  v.check(
    value => Buffer.byteLength(value) <= maxPathBytes,
    formatCheckMessage('too_long', `must have at most ${maxPathBytes} bytes.`)
  )
)

const int64 = { type: 'integer', format: 'int64' }
const playlistIdSchema = { ...int64, minimum: 1 }

/** An id, or an object with it, as AzuraCast renders the playlists of a file. */
const playlistId = v.pipe(
  v.unknown(),
  v.transform(value => (typeof value === 'object' && value !== null && 'id' in value ? value.id : value)),
  integerField({ min: 1, max: Number.MAX_SAFE_INTEGER, about: 'id' }).input
)

const playlistIds = listField<number>(playlistId, {
  max: 500,
  items: playlistIdSchema,
  about: 'The ids of its playlists; a list in a body replaces all, and must have those of its folders.'
})
const optional = { fallback: '', isTrimmed: true }

/** The songs of a station's library. */
export const filesResource = defineResource({
  name: 'StationFile',
  title: 'song of the library',
  tag: 'Files',
  table: 'media',
  // Entries of remote playlists are not files.
  only: 'remote_playlist_id is null',
  paths: { list: '/api/station/:station_id/files', one: '/api/station/:station_id/file/:id' },
  access: { read: 'view station management', write: 'manage station media' },
  fields: {
    unique_id: computed('Identifies the song in the URL of its cover.'),
    song_id: computed('32 hexadecimal digits, derived from artist and title.'),
    art: readOnlyField<string>({ schema: { type: 'string', format: 'uri' }, about: 'URL of the cover.' }),
    path: maskedAddressField(
      validatedField(path, {
        schema: { type: 'string', minLength: 1, maxLength: maxPathBytes },
        about: 'A URL, or a path below the media folder; unique in the station. The file need not exist.',
        example: 'Kimiko Ishizaka/Aria.mp3'
      })
    ),
    title: textField({
      max: maxTagLengths.title,
      ...optional,
      about: 'Derived from the path if a new song has neither artist nor title.',
      example: 'Aria'
    }),
    artist: textField({ max: maxTagLengths.artist, ...optional, about: 'The artist.' }),
    album: textField({ max: maxTagLengths.album, ...optional, about: 'The album.' }),
    genre: textField({ max: maxTagLengths.genre, ...optional, about: 'The genre.' }),
    isrc: textField({
      max: maxTagLengths.isrc,
      ...optional,
      about: 'The International Standard Recording Code.'
    }),
    lyrics: textField({ max: maxTagLengths.lyrics, fallback: '', isLong: true, about: 'The lyrics.' }),
    text: readOnlyField<string>({ schema: { type: 'string' }, about: 'Artist and title.' }),
    length: {
      ...integerField({ min: 0, max: 2_147_483, fallback: 0, about: 'Seconds; 0: unknown.', example: 300 }),
      isStored: false
    },
    size: readOnlyField<number>({ schema: int64, about: 'Size of the file in bytes.' }),
    mtime: readOnlyField<number>({ schema: int64, about: 'Modification time of the file in Unix seconds.' }),
    playlists: {
      ...playlistIds,
      accepts: {
        ...playlistIds.schema,
        items: { anyOf: [playlistIdSchema, { type: 'object', properties: { id: playlistIdSchema } }] }
      },
      isStored: false
    },
    custom_fields: { ...customFieldValuesField, isStored: false },
    extra_metadata: { ...extraMetadataField, isStored: false }
  },
  label: 'title',
  search: ['title', 'artist', 'album', 'path'],
  sort: ['id', 'path', 'title', 'artist', 'album', 'genre'],
  order: 'path',
  unique: { media_station_id_path_key: 'path' },
  publishes: 'marked parts'
})

type FileFields = typeof filesResource.fields

/** They determine how long a song is heard, and when the next one starts. */
const timingCues: ReadonlySet<CuePoint> = new Set<CuePoint>(['cueInMs', 'cueOutMs', 'startNextMs'])

/** The fields without a column, for a row that was deleted meanwhile. */
const absent = { art: '', length: 0, size: 0, mtime: 0, playlists: [], custom_fields: {}, cues: noCuePoints }

const hooks: ResourceHooks<FileFields> = {
  async beforeWrite(write) {
    if (write.values === null) {
      await assertNotSent(write)
      if (write.change) await markPartsShowingMedia(write.change, write.before.id)
      return []
    }
    const { before, values } = write
    const problems = [
      ...(await checkPath(write)),
      ...(await findUnknownPlaylists(write)),
      ...(await findUnknownCustomFields(write.tx, values.custom_fields)),
      ...(await checkCuePoints(write))
    ]
    if (!before && values.title === '' && values.artist === '') values.title = titleFromPath(values.path)
    values.unique_id = before?.unique_id ?? generateUniqueId()
    const isSameSong = before?.artist === values.artist && before.title === values.title
    values.song_id = isSameSong ? before.song_id : computeSongId(formatSongText(values.artist, values.title))
    values.playlists = [...new Set(values.playlists)].toSorted((a, b) => a - b)
    values.custom_fields = { ...before?.custom_fields, ...values.custom_fields }
    values.extra_metadata = { ...before?.extra_metadata, ...values.extra_metadata }
    return problems
  },
  async afterWrite({ tx, change, before, values }, id) {
    if (!change) return
    if (values === null) {
      await refillQueue(change)
      return
    }
    const { station } = change
    const isResized = values.length !== (before?.length ?? 0)
    if (isResized) await tx`update media set duration_ms = ${values.length * 1000} where id = ${id}`
    if (before?.title !== values.title)
      await tx`update media set title_key = ${titleKey(values.title)} where id = ${id}`
    if (before?.artist !== values.artist) {
      const row = {
        artist_keys: artistKeys(values.artist),
        ...toListedArtistsColumns({ ...values, artists: [] })
      }
      await tx`update media set ${tx(row)} where id = ${id}`
    }
    await markCorrectedTexts(tx, id, findCorrected(before, values))
    const changedCues = findChangedCues(before?.extra_metadata ?? {}, values.extra_metadata)
    if (changedCues.length > 0) await updateCuePoints(tx, id, values.extra_metadata, changedCues)
    const isRetimed = isResized || changedCues.some(name => timingCues.has(name))
    if (before && isRetimed) await updateQueuedDurations(tx, station.id, id)
    await updateCustomFieldValues(tx, id, before?.custom_fields ?? {}, values.custom_fields)
    const hasMoved = before?.path !== values.path
    const isMoved = await movePlaylists(change, { id, hasMoved }, before?.playlists ?? [], values.playlists)
    if (before) await updateCurrentPlayTexts(tx, station.id, id)
    if (before) await markPartsShowingMedia(change, id)
    if (isMoved || (before && isRetimed)) await refillQueue(change)
  },
  async render(rows, { sql, services, station }) {
    const ids = rows.map(({ id }) => id)
    const found = await sql<({ id: number } & typeof absent)[]>`
      select m.id, ${artIdFragment(sql, 'm')} as art, m.duration_ms / 1000 as length, m.size_bytes as size,
        m.modified_ms / 1000 as mtime, ${cuesFragment(sql)} as cues,
        coalesce((select jsonb_agg(distinct t.playlist_id order by t.playlist_id)
          from playlist_tracks t where t.media_id = m.id), '[]') as playlists,
        coalesce((select jsonb_object_agg(f.short_name, coalesce(x.value, ''))
          from custom_fields f left join media_custom_fields x on x.field_id = f.id and x.media_id = m.id), '{}')
          as custom_fields
      from media m where m.id = any(${ids}::bigint[])`
    const byId = new Map(found.map(({ id, ...computedFields }) => [id, computedFields]))
    return rows.map(({ id, artist, title }) => {
      const { cues, ...fields } = byId.get(id) ?? absent
      const art = songArtUrl(fields.art, station?.shortName ?? '', services.config.BASE_URL)
      return { ...fields, art, text: formatSongText(artist, title), extra_metadata: toExtraMetadata(cues) }
    })
  }
}

/** The texts that a person set: those that differ from the record before, or from that which a path makes. */
function findCorrected(before: ResourceWrite<FileFields>['before'], values: ValuesOf<FileFields>) {
  const derivedTitle = values.artist === '' ? titleFromPath(values.path) : ''
  return correctableTextColumns.filter(
    name => values[name] !== (before?.[name] ?? (name === 'title' ? derivedTitle : ''))
  )
}

/** Throws 409 if the song is queued and was sent to the playout. */
async function assertNotSent({
  tx,
  before
}: Pick<ResourceDeletion<FileFields>, 'tx'> & { readonly before: { readonly id: number } }): Promise<void> {
  const [sent] = await tx`select from queue
    where media_id = ${before.id} and is_sent and played_at_ms is null and skipped_at_ms is null`
  if (sent) throw new ApiError('conflict', 'The song has already been sent to the playout.')
}

/** Checks and normalizes a new path. An unchanged path is not checked: imports store paths as they are. */
async function checkPath(write: ResourceWrite<FileFields>): Promise<FieldError[]> {
  const { tx, services, station, before, values } = write
  if (values.path === before?.path) return []
  const folder = station && (await findMediaFolder(tx, station.id, services.config.DATA_DIR))
  const result = parseLibraryPath(values.path, folder)
  if ('problem' in result) return [fieldError('path', 'invalid_format', result.problem)]
  const refused = findSongUrlProblem(services, result.path)
  if (refused) return [fieldError('path', refused.code, refused.sentence)]
  values.path = result.path
  const song = station && (await findStoredSongs(tx, station.id, [result.path])).get(result.path)
  // The same path is refused when it is stored.
  if (!song || song.id === before?.id || song.path === result.path) return []
  return [fieldError('path', 'duplicate', 'is taken: a song has this path in another form of Unicode.')]
}

/** Checks the cue points against each other and the length, if one of them is changed. */
async function checkCuePoints({ tx, before, values }: ResourceWrite<FileFields>): Promise<FieldError[]> {
  const extraMetadata = { ...before?.extra_metadata, ...values.extra_metadata }
  if (before?.length !== values.length) return findExtraMetadataProblems(extraMetadata, values.length * 1_000)
  if (findChangedCues(before.extra_metadata, extraMetadata).length === 0) return []
  const [stored] = await tx<{ durationMs: number }[]>`
    select duration_ms as "durationMs" from media where id = ${before.id}`
  return findExtraMetadataProblems(extraMetadata, stored?.durationMs ?? 0)
}

async function findUnknownPlaylists({
  tx,
  station,
  values
}: ResourceWrite<FileFields>): Promise<FieldError[]> {
  if (values.playlists.length === 0) return []
  const rows = await tx<{ id: number }[]>`
    select id from playlists where station_id = ${station?.id ?? null}
      and id = any(${values.playlists}::bigint[])`
  const known = new Set(rows.map(({ id }) => id))
  return findUnknownElements(values.playlists, known, 'playlists.', 'is not a playlist of the station.')
}

/**
 * Moves a song from the playlists `before` to the playlists `after` and to those of its folder. Returns whether any
 * changed. Throws 409 if it cannot leave one because of its folder.
 */
async function movePlaylists(
  change: StationChange,
  { id: mediaId, hasMoved }: { readonly id: number; readonly hasMoved: boolean },
  before: number[],
  after: number[]
) {
  const { tx, station } = change
  const left = before.filter(id => !after.includes(id))
  const joined = after.filter(id => !before.includes(id))
  if (left.length > 0) {
    await removeQueuedMedia(change, mediaId, left)
    await tx`
      delete from playlist_tracks
      where media_id = ${mediaId} and playlist_id = any(${left}::bigint[]) and not is_from_folder`
  }
  if (joined.length > 0)
    await tx`
      insert into playlist_tracks (playlist_id, media_id, position)
      select p.id, ${mediaId}::bigint,
        coalesce((select max(position) from playlist_tracks t where t.playlist_id = p.id), 0) + 1
      from unnest(${joined}::bigint[]) as p (id)
      on conflict do nothing`
  const mediaIds = hasMoved || left.length > 0 ? [mediaId] : []
  const { added, removed } = await syncFolderSongs(tx, { stationId: station.id, mediaIds })
  if (left.length > 0) await assertPlaylistsLeft(tx, mediaId, left)
  return left.length + joined.length + added + removed > 0
}

/** Throws 409 if a song is in one of these playlists because of its folder. */
async function assertPlaylistsLeft(tx: Tx, mediaId: number, left: readonly number[]): Promise<void> {
  const [kept] = await tx<{ id: number; name: string }[]>`
    select p.id, p.name from playlist_tracks t join playlists p on p.id = t.playlist_id
    where t.media_id = ${mediaId} and p.id = any(${[...left]}::bigint[]) order by p.id limit 1`
  if (!kept) return
  const sentence = `must contain ${kept.id}: the playlist "${kept.name}" has the song because of its folder.`
  throw ApiError.ofFields([fieldError('playlists', 'in_use', sentence)], 'conflict')
}

/** Reads records of songs. */
export const fileReads = openResourceReads(filesResource, hooks)

/** The operations of records. Those that change and delete one do not touch its file. */
export const fileOperations = openResourceOperations(filesResource, hooks)
