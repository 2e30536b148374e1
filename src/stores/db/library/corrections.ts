import { cuePointNames } from '../../../model/songs/cue-points.ts'
import { type ImportedSong, titleFromPath } from '../../../model/songs/song.ts'
import type { Sql, Tx } from '../sql.ts'
import { cueColumns, cuesFragment } from './cue-columns.ts'

/*
 * What a person corrected of a song, and what no file overwrites: `media.operator_cues` lists the names of columns.
 * They are cue points, texts and the cover.
 */

/** The columns of texts that a person may correct. */
export const correctableTextColumns = ['artist', 'title', 'album', 'genre', 'isrc', 'lyrics'] as const

/** From this version on, `operator_cues` lists all that a person set. */
const correctionsVersion = 2

interface StoredSong extends Omit<ImportedSong, 'durationMs' | 'artists' | 'tags'> {
  readonly corrected: readonly string[]
  readonly isEarlier: boolean
}

/** A song, and the columns of it that a person set. */
export type CorrectedSong = ImportedSong & { readonly corrected: readonly string[] }

interface Replacement {
  /** Whether the texts and the cover of the file replace those that a person set. Cue points are kept. */
  readonly replacesCorrections: boolean
}

/**
 * Returns songs with distinct paths as they are to be stored: with what a person set of them. Of rows before
 * `correctionsVersion` this is what differs from the file. Locks the known songs.
 */
export async function keepCorrections(
  tx: Tx,
  stationId: number,
  songs: readonly ImportedSong[],
  { replacesCorrections }: Replacement
): Promise<CorrectedSong[]> {
  const stored = await tx<StoredSong[]>`
    select path, artist, title, album, genre, isrc, lyrics, ${cuesFragment(tx)} as cues, artwork_hash as "coverHash",
      size_bytes as "sizeBytes", modified_ms as "modifiedMs", operator_cues as corrected,
      tag_version < ${correctionsVersion} as "isEarlier"
    from media m
    where station_id = ${stationId} and remote_playlist_id is null and path = any(${songs.map(({ path }) => path)}::text[])
    order by id for update`
  const byPath = new Map(stored.map(song => [song.path, song]))
  return songs.map(song => {
    const before = byPath.get(song.path)
    if (!before) return { ...song, corrected: [] }
    if (replacesCorrections) {
      const corrected = before.corrected.filter(isCue)
      return { ...keep(song, before, corrected), corrected }
    }
    const corrected = [...new Set([...before.corrected, ...findEarlierCorrections(before, song)])].toSorted()
    const kept = keep(song, before, [...corrected, ...identity(before, song)])
    return { ...kept, artists: findArtists(song, kept.artist, corrected), corrected }
  })
}

/** The artists of the song of a file whose stored text is `artist`. */
function findArtists(song: ImportedSong, artist: string, corrected: readonly string[]): readonly string[] {
  if (artist === song.artist) return song.artists
  if (corrected.includes('artist')) return []
  // An earlier release misread the text.
  return song.artists.length > 0 ? song.artists : [song.artist].filter(name => name !== '')
}

const isSameFile = (before: StoredSong, { sizeBytes, modifiedMs }: ImportedSong) =>
  before.sizeBytes === sizeBytes && before.modifiedMs === modifiedMs

/** The columns of a row of an earlier release that differ from the file. */
function findEarlierCorrections(before: StoredSong, song: ImportedSong): string[] {
  if (!before.isEarlier) return []
  // An empty text was cleared, if the release could read the tags of the file at all.
  const mayBeCleared = isSameFile(before, song) && !hasDerivedTitle(before)
  const isCorrected = (stored: string, text: string) =>
    stored === '' ? mayBeCleared && text !== '' : stored !== text && !isMisread(stored, text)
  const texts = correctableTextColumns
    .filter(name => isCorrected(before[name], song[name]))
    .filter(name => name !== 'title' || !hasDerivedTitle(before))
  const hasCover = before.coverHash !== null || isSameFile(before, song)
  return hasCover && before.coverHash !== song.coverHash ? [...texts, coverColumn] : texts
}

/**
 * Whether release 0.2.0 stored this for the text of the file: cut at a slash, or with U+FFFD for characters that it
 * could not read, which an upgrade step has removed since.
 */
const isMisread = (stored: string, text: string) =>
  stored.includes('\uFFFD') ||
  stored === text.replace(/[^\p{ASCII}]/gu, '').trim() ||
  text.startsWith(`${stored}/`)

const hasDerivedTitle = ({ artist, title, path }: StoredSong) =>
  artist === '' && title === titleFromPath(path)

/** The columns from which the id of a song derives stay as they are while its file does. */
const identity = (before: StoredSong, song: ImportedSong) =>
  before.isEarlier && isSameFile(before, song) ? ['artist', 'title'] : []

const coverColumn = 'artwork_hash'
const isCue = (column: string) => cuePointNames.some(name => cueColumns[name] === column)

/** The song of a file, with these columns of the stored one. */
function keep(song: ImportedSong, before: StoredSong, columns: readonly string[]): ImportedSong {
  const texts = correctableTextColumns
    .filter(name => columns.includes(name))
    .map(name => [name, before[name]])
  const cues = cuePointNames
    .filter(name => columns.includes(cueColumns[name]))
    .map(name => [name, before.cues[name]])
  return {
    ...song,
    ...Object.fromEntries(texts),
    cues: { ...song.cues, ...Object.fromEntries(cues) },
    coverHash: columns.includes(coverColumn) ? before.coverHash : song.coverHash
  }
}

/** Remembers that a person set these texts of a song. */
export async function markCorrectedTexts(
  tx: Tx,
  mediaId: number,
  columns: readonly (typeof correctableTextColumns)[number][]
): Promise<void> {
  if (columns.length > 0) await tx`update media set ${withCorrected(tx, columns)} where id = ${mediaId}`
}

/** The assignment that remembers columns of `media` as set by a person. */
const withCorrected = (sql: Sql | Tx, columns: readonly string[]) => sql`
  operator_cues = array(select unnest(operator_cues) union select unnest(${[...columns]}::text[]) order by 1)`

/** The assignment that remembers the cover of `media` as set by a person. */
export const correctedCoverAssignment = (sql: Sql | Tx) => withCorrected(sql, [coverColumn])
