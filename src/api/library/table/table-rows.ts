import type { CuePoints } from '../../../model/songs/cue-points.ts'
import { cuesFragment } from '../../../stores/db/library/cue-columns.ts'
import type { Fragment, Sql } from '../../../stores/db/sql.ts'
import type { CsvCell } from '../../core/csv.ts'
import { extraMetadataFields, toExtraMetadata } from '../extra-metadata.ts'
import type { PlaylistCells } from './playlist-cells.ts'

/** The most songs in a file. */
export const maxTableSongs = 100_000

/** Columns of the file that can be changed and are fields of a song with the same name. */
export const tableTextColumns = ['title', 'artist', 'album', 'genre', 'lyrics', 'isrc'] as const
export const tableCueColumns = Object.keys(extraMetadataFields)
export const customColumnPrefix = 'custom_field_'

/** A song as a file of all songs has it. */
export interface TableRow extends Readonly<Record<(typeof tableTextColumns)[number], string>> {
  readonly id: number
  readonly unique_id: string
  readonly song_id: string
  readonly path: string
  readonly length: number
  readonly durationMs: number
  readonly cues: CuePoints
  readonly playlistIds: readonly number[]
  readonly custom_fields: Readonly<Record<string, string>>
}

/** SQL: the songs of a station that match a condition on media `m`, by path. */
export const tableRowsFragment = (sql: Sql, stationId: number, condition: Fragment): Fragment => sql`
  select m.id, m.unique_id, m.song_id, m.path, m.title, m.artist, m.album, m.genre, m.lyrics, m.isrc,
    m.duration_ms / 1000 as length, m.duration_ms as "durationMs", ${cuesFragment(sql)} as cues,
    coalesce((select jsonb_agg(distinct t.playlist_id) from playlist_tracks t where t.media_id = m.id), '[]')
      as "playlistIds",
    coalesce((select jsonb_object_agg(f.short_name, x.value) from media_custom_fields x
      join custom_fields f on f.id = x.field_id where x.media_id = m.id), '{}') as custom_fields
  from media m where m.station_id = ${stationId} and m.remote_playlist_id is null and ${condition}
  order by m.path, m.id limit ${maxTableSongs}`

/**
 * The columns of the file; `shortNames` are those of all custom fields. The last one always has a cell, because Excel
 * leaves out empty cells at the ends of lines.
 */
export const tableColumns = (shortNames: readonly string[]): readonly string[] => [
  'id',
  'unique_id',
  'song_id',
  'path',
  ...tableTextColumns,
  'playlists',
  ...tableCueColumns,
  ...shortNames.map(name => customColumnPrefix + name),
  'length'
]

/** The cells of a song, by column. */
export function renderTableCells(
  row: TableRow,
  shortNames: readonly string[],
  playlistCells: PlaylistCells
): ReadonlyMap<string, CsvCell> {
  const { cues, playlistIds, custom_fields: custom, durationMs: _durationMs, ...plain } = row
  const extra = Object.entries(toExtraMetadata(cues))
  return new Map<string, CsvCell>([
    ...Object.entries(plain),
    ['playlists', playlistCells.render(playlistIds)] as const,
    ...extra.map(([name, value]) => [name, value ?? ''] as const),
    ...shortNames.map(
      name => [customColumnPrefix + name, (Object.hasOwn(custom, name) && custom[name]) || ''] as const
    )
  ])
}
