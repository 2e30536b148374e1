import { type CuePoint, fitCuePoints } from '../../../model/songs/cue-points.ts'
import { artistKeys, titleKey } from '../../../model/songs/duplicate-keys.ts'
import {
  uniqueIdPattern,
  generateUniqueId,
  cleanLine,
  cleanLines,
  maxTagLengths,
  computeSongId,
  formatSongText,
  titleFromPath
} from '../../../model/songs/song.ts'
import { cueColumns, toCueColumns } from '../../../stores/db/library/cue-columns.ts'
import { clamp } from '../accept-record.ts'
import { insertRows, type RowToInsert } from '../insert-rows.ts'
import { groupStationsByLocation } from '../media-folders.ts'
import { type MigratedStation, type AzuracastMigration, migrateSourceTable } from '../migration.ts'
import { type RowReader, type SourceRow, scalarToText } from '../source.ts'
import { readUsableLength, parseUsablePath, readUsableTime } from '../usable-values.ts'

interface MappedMedia {
  readonly sourceId: number
  readonly row: RowToInsert
  /** The stations whose library has it, the first of which keeps its id. */
  readonly stations: readonly MigratedStation[]
}

/**
 * Takes the songs of the libraries. Where stations share a storage location each gets its own record of a song: the
 * first station keeps the id, all have the `unique_id` of addresses of covers.
 */
export async function migrateMedia(migration: AzuracastMigration): Promise<void> {
  const { report, ids } = migration
  const byLocation = groupStationsByLocation(migration)
  const seen = new Set<string>()
  await migrateSourceTable<MappedMedia>(migration, {
    table: 'station_media',
    kind: 'media',
    title: 'songs',
    convert(row, read, sourceId) {
      const location = read.number(row, 'storage_location_id')
      const stations = byLocation.get(location) ?? []
      if (stations.length === 0)
        report.leave(
          'songs in storage locations that no station uses',
          read.text(row, 'path') || `song ${sourceId}`
        )
      const mapped = stations.length === 0 ? null : mapMedia(migration, row, read)
      if (!mapped) return null
      const keys = [mapped['path'], mapped['unique_id']].map(value => `${location} ${scalarToText(value)}`)
      if (keys.some(key => seen.has(key))) {
        report.leave(
          'songs whose path or unique_id another song of the location has',
          scalarToText(mapped['path'])
        )
        return null
      }
      for (const key of keys) seen.add(key)
      return { sourceId, row: mapped, stations }
    },
    async write(tx, songs) {
      const copies = songs.flatMap(({ sourceId, row, stations }) =>
        stations.map((station, index) => ({
          source: { id: sourceId, stationId: index === 0 ? 0 : station.id },
          row: { ...row, station_id: station.id }
        }))
      )
      const newIds = await ids.assign(
        tx,
        'media',
        copies.map(({ source }) => source)
      )
      await insertRows(
        tx,
        'media',
        copies.map(({ row }, index) => ({ id: newIds[index], ...row }))
      )
    }
  })
  for (const [location, [first, ...others]] of byLocation)
    if (first && others.length > 0)
      report.advise(
        `${others.map(({ name }) => name).join(', ')} shared storage location ${location} with ${first.name}: their songs have new ids.`
      )
}

function mapMedia({ report }: AzuracastMigration, row: SourceRow, read: RowReader): RowToInsert | null {
  const text = (column: string) => read.text(row, column) ?? ''
  const path = text('path')
  const parsed = parseUsablePath(path)
  if ('problem' in parsed) {
    report.leave('songs with an unusable path', `${path || text('unique_id')}: ${parsed.problem}`)
    return null
  }
  const onProblem = (problem: string) =>
    report.leave('times, lengths and cue points of songs that are not usable', `${path}: ${problem}`)
  const artist = cleanLine(text('artist'), maxTagLengths.artist)
  const knownTitle = cleanLine(text('title'), maxTagLengths.title)
  const title = knownTitle === '' && artist === '' ? titleFromPath(path) : knownTitle
  const lyrics = cleanLines(text('lyrics'), maxTagLengths.lyrics)
  if (text('lyrics').length > maxTagLengths.lyrics) report.leave('lyrics cut at 8,000 characters', path)
  const uniqueId = text('unique_id')
  const hasUsableId = uniqueIdPattern.test(uniqueId)
  if (!hasUsableId) report.leave('addresses of covers that changed', `${path} (${uniqueId})`)
  const durationMs = readUsableLength(read, row, 'length', onProblem)
  const cues = fitCues(mapCues(read, row), durationMs, onProblem)
  return {
    unique_id: hasUsableId ? uniqueId : generateUniqueId(),
    path: parsed.path,
    song_id: computeSongId(formatSongText(artist, title)),
    title_key: titleKey(title),
    artist_keys: artistKeys(artist),
    artist,
    title,
    album: cleanLine(text('album'), maxTagLengths.album),
    genre: cleanLine(text('genre'), maxTagLengths.genre),
    isrc: cleanLine(text('isrc'), maxTagLengths.isrc),
    lyrics,
    duration_ms: durationMs,
    modified_ms: readUsableTime(read, row, 'mtime', onProblem) ?? 0,
    created_at: new Date(readUsableTime(read, row, 'uploaded_at', onProblem) ?? Date.now()).toISOString(),
    ...cues,
    tag_version: 1
  }
}

/** The names in `extra_metadata` of AzuraCast, in seconds. */
const cueNames: Readonly<Record<Exclude<CuePoint, 'amplifyDb'>, string>> = {
  cueInMs: 'cue_in',
  cueOutMs: 'cue_out',
  startNextMs: 'cross_start_next',
  fadeInMs: 'fade_in',
  fadeOutMs: 'fade_out'
}

const maxMs = 2_147_483_647

/** Reads cue points by the names in `extra_metadata`. */
function readCues(read: RowReader, row: SourceRow): Readonly<Record<string, unknown>> {
  if (read.has('extra_metadata')) {
    // In 2024 there were releases that put a prefix before the names.
    const members = Object.entries(read.json(row, 'extra_metadata'))
    return Object.fromEntries(members.map(([name, value]) => [name.replace(/^liq_/, ''), value]))
  }
  // Until release 0.20.1 each was a column.
  const columns = ['amplify', 'cue_in', 'cue_out', 'fade_in', 'fade_out']
  const cues = Object.fromEntries(columns.map(column => [column, read.text(row, column)]))
  const overlap = read.text(row, 'fade_overlap')
  const end = cues['cue_out'] ?? read.text(row, 'length')
  return {
    ...cues,
    cross_start_next:
      overlap === null || end === null ? read.text(row, 'fade_start_next') : Number(end) - Number(overlap)
  }
}

/** Maps cue points to columns. A value that is unset or has no meaning is null. */
export function mapCues(read: RowReader, row: SourceRow) {
  const extra = readCues(read, row)
  const columns: Record<string, number | null> = {}
  for (const [name, key] of Object.entries(cueNames)) {
    const seconds = numberOf(extra[key])
    const column = Object.entries(cueColumns).find(([cue]) => cue === name)?.[1] ?? ''
    // A song is not over at its beginning: 0 means unset there.
    const isSet = seconds !== null && seconds >= 0 && (name !== 'cueOutMs' || seconds > 0)
    columns[column] = isSet ? clamp(Math.round(seconds * 1_000), 0, maxMs) : null
  }
  const amplify = numberOf(extra['amplify'])
  columns[cueColumns.amplifyDb] = amplify === null ? null : clamp(amplify, -60, 60)
  const set = Object.keys(columns).filter(column => columns[column] !== null)
  return { ...columns, operator_cues: set }
}

/** Leaves out cue points that fit neither the length (0: unknown) nor each other. */
function fitCues(
  columns: ReturnType<typeof mapCues>,
  durationMs: number,
  onProblem: (problem: string) => void
): RowToInsert {
  const mapped: Readonly<Record<string, unknown>> = columns
  const cueOf = (column: string) => {
    const value = mapped[column]
    return typeof value === 'number' ? value : null
  }
  const fitting = fitCuePoints(
    {
      cueInMs: cueOf(cueColumns.cueInMs),
      cueOutMs: cueOf(cueColumns.cueOutMs),
      startNextMs: cueOf(cueColumns.startNextMs),
      fadeInMs: cueOf(cueColumns.fadeInMs),
      fadeOutMs: cueOf(cueColumns.fadeOutMs),
      amplifyDb: cueOf(cueColumns.amplifyDb)
    },
    durationMs
  )
  const row: RowToInsert = toCueColumns(fitting)
  const left = columns.operator_cues.filter(column => row[column] === null)
  for (const column of left) onProblem(`${column} ${String(mapped[column])} does not fit the song`)
  return { ...row, operator_cues: columns.operator_cues.filter(column => !left.includes(column)) }
}

/** A number, or text that begins with one, such as `-1.5 dB`. */
function numberOf(value: unknown): number | null {
  const number = Number.parseFloat(scalarToText(value))
  return Number.isFinite(number) ? number : null
}

interface FieldValue {
  readonly mediaId: number
  readonly fieldId: number
  readonly value: string
}

/** Takes the values of custom fields. */
export async function migrateFieldValues(migration: AzuracastMigration): Promise<void> {
  const { ids } = migration
  const copies = await readCopies(migration)
  await migrateSourceTable<FieldValue>(migration, {
    table: 'station_media_custom_field',
    title: 'values of custom fields',
    convert(row, read) {
      const mediaId = ids.find('media', read.number(row, 'media_id'))
      const fieldId = ids.find('custom field', read.number(row, 'field_id'))
      const value = cleanLine(read.text(row, 'field_value') ?? '', 255)
      return mediaId === null || fieldId === null || value === '' ? null : { mediaId, fieldId, value }
    },
    async write(tx, values) {
      const rows = values.flatMap(({ mediaId, fieldId, value }) =>
        [mediaId, ...(copies.get(mediaId) ?? [])].map(id => ({ media_id: id, field_id: fieldId, value }))
      )
      await insertRows(tx, 'media_custom_fields', rows, { media_id: 'media', field_id: 'custom_fields' })
    }
  })
}

/** The ids of copies for further stations by the id of the first one. */
async function readCopies({ sql, ids, installation }: AzuracastMigration): Promise<Map<number, number[]>> {
  const copies = new Map<number, number[]>()
  for (const { sourceId, id } of await sql<{ sourceId: number; id: number }[]>`
    select source_id as "sourceId", id from azuracast_ids
    where installation = ${installation} and kind = 'media' and station_id <> 0`) {
    const first = ids.find('media', sourceId) ?? 0
    copies.set(first, [...(copies.get(first) ?? []), id])
  }
  return copies
}
