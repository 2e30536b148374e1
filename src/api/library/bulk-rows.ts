import { cuesOf } from '../../db/cue-columns.ts'
import type { Fragment, Sql } from '../../db/sql.ts'
import { nameKey } from '../../runtime/name-key.ts'
import type { CuePoints } from '../../songs/cue-points.ts'
import { extraMetadataFields, toExtraMetadata } from './extra-metadata.ts'

/** The most songs in a file. */
export const maxBulkSongs = 100_000

/** Columns of the file that can be changed and are fields of a song with the same name. */
export const textColumns = ['title', 'artist', 'album', 'genre', 'lyrics', 'isrc'] as const
export const cueColumns = Object.keys(extraMetadataFields)
export const customPrefix = 'custom_field_'

/** The separator of the names of playlists. */
const separator = '; '

/** A song as a file of all songs has it. */
export interface BulkRow extends Readonly<Record<(typeof textColumns)[number], string>> {
  readonly id: number
  readonly unique_id: string
  readonly song_id: string
  readonly path: string
  readonly length: number
  readonly durationMs: number
  readonly cues: CuePoints
  readonly playlists: readonly string[]
  readonly custom_fields: Readonly<Record<string, string>>
}

/** SQL: the songs of a station that match a condition on media `m`, by path. */
export const selectBulkRows = (sql: Sql, stationId: number, condition: Fragment): Fragment => sql`
  select m.id, m.unique_id, m.song_id, m.path, m.title, m.artist, m.album, m.genre, m.lyrics, m.isrc,
    m.duration_ms / 1000 as length, m.duration_ms as "durationMs", ${cuesOf(sql)} as cues,
    array(select p.name from (select distinct playlist_id from playlist_tracks where media_id = m.id) t
      join playlists p on p.id = t.playlist_id order by p.name, p.id) as playlists,
    coalesce((select jsonb_object_agg(f.short_name, x.value) from media_custom_fields x
      join custom_fields f on f.id = x.field_id where x.media_id = m.id), '{}') as custom_fields
  from media m where m.station_id = ${stationId} and m.remote_playlist_id is null and ${condition}
  order by m.path, m.id limit ${maxBulkSongs}`

/** The columns of the file; `shortNames` are those of all custom fields. */
export const bulkColumns = (shortNames: readonly string[]): readonly string[] => [
  'id',
  'unique_id',
  'song_id',
  'path',
  ...textColumns,
  'playlists',
  'length',
  ...cueColumns,
  ...shortNames.map(name => customPrefix + name)
]

/** The cells of a song, by column. */
export function bulkCells(row: BulkRow, shortNames: readonly string[]): ReadonlyMap<string, string> {
  const { cues, playlists, custom_fields: custom, durationMs: _durationMs, ...plain } = row
  const extra = Object.entries(toExtraMetadata(cues))
  return new Map([
    ...Object.entries(plain).map(([name, value]) => [name, String(value)] as const),
    ['playlists', playlists.join(separator)] as const,
    ...extra.map(([name, value]) => [name, value === null ? '' : String(value)] as const),
    ...shortNames.map(
      name => [customPrefix + name, (Object.hasOwn(custom, name) && custom[name]) || ''] as const
    )
  ])
}

/** A cell that differs from the stored value. */
export interface CellChange {
  readonly field: string
  readonly current: string
  readonly new: string
}

/** What a line of a file changes. */
export interface RowChange {
  readonly metadata: readonly CellChange[]
  readonly extra_metadata: readonly CellChange[]
  readonly custom_fields: readonly CellChange[]
  readonly playlists: { readonly added: readonly string[]; readonly removed: readonly string[] }
}

/** Undoes the apostrophe before text that a spreadsheet would take for a formula; see `csvLine`. */
const unquoteFormula = (cell: string) => (/^'[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell)

/** Compares a line with the song. Columns that cannot be changed are ignored. */
export function compareLine(
  row: BulkRow,
  line: Readonly<Record<string, string>>,
  shortNames: readonly string[]
): RowChange {
  const stored = bulkCells(row, shortNames)
  const changesOf = (columns: readonly string[], prefix = '') =>
    columns.flatMap(name => {
      const cell = line[prefix + name]
      const current = stored.get(prefix + name) ?? ''
      const fresh = cell === undefined ? current : unquoteFormula(cell)
      return fresh === current ? [] : [{ field: name, current, new: fresh }]
    })
  const named = line['playlists']
  const toStored = (name: string) => row.playlists.find(each => nameKey(each) === nameKey(name)) ?? name
  const names = named === undefined ? row.playlists : parseNames(named).map(toStored)
  return {
    metadata: changesOf(textColumns),
    extra_metadata: changesOf(cueColumns),
    custom_fields: changesOf(shortNames, customPrefix),
    playlists: {
      added: names.filter(name => !row.playlists.includes(name)),
      removed: row.playlists.filter(name => !names.includes(name))
    }
  }
}

const parseNames = (text: string) => [
  ...new Set(
    unquoteFormula(text)
      .split(';')
      .map(name => name.trim())
      .filter(name => name !== '')
  )
]

export const isUnchanged = ({
  metadata,
  extra_metadata: extra,
  custom_fields: custom,
  playlists
}: RowChange) =>
  metadata.length + extra.length + custom.length + playlists.added.length + playlists.removed.length === 0

const valuesOf = <Value>(changes: readonly CellChange[], convert: (text: string) => Value) =>
  Object.fromEntries(changes.map(({ field, new: text }) => [field, convert(text)]))

/** The body of the update of a song; `playlistIds` are those of all its playlists, if these change. */
export function toUpdate(change: RowChange, playlistIds: readonly number[] | null): object {
  return {
    ...valuesOf(change.metadata, text => text),
    ...(change.extra_metadata.length > 0
      ? { extra_metadata: valuesOf(change.extra_metadata, text => (text === '' ? null : text)) }
      : {}),
    ...(change.custom_fields.length > 0
      ? { custom_fields: valuesOf(change.custom_fields, text => text) }
      : {}),
    ...(playlistIds === null ? {} : { playlists: playlistIds })
  }
}
