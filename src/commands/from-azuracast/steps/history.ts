import { artistKeys, titleKey } from '../../../model/songs/duplicate-keys.ts'
import { cleanLine, maxTagLengths, computeSongId, formatSongText } from '../../../model/songs/song.ts'
import { openCache } from '../../../platform/runtime/cache.ts'
import type { Tx } from '../../../stores/db/sql.ts'
import { copyLinesToTable, renderCopyLine } from '../copy-rows.ts'
import { type AzuracastMigration, readSourceRows, migrateSourceTable } from '../migration.ts'
import { readUsableCount, readUsableLength, readUsableTime } from '../usable-values.ts'

/** AzuraCast shows a play from when listeners hear it: this long after its start in the database. */
export const playbackDelayMs = 5_000

// Two batches are in memory: one is converted while the other is written.
const batchRows = 10_000

/** The columns that are copied; the others have defaults or follow from them. */
const columns = [
  'id',
  'station_id',
  'media_id',
  'playlist_id',
  'playlist',
  'streamer',
  'is_request',
  'is_visible',
  'song_id',
  'artist',
  'title',
  'album',
  'duration_ms',
  'started_at_ms',
  'ended_at_ms',
  'listeners_start',
  'listeners_end',
  'listeners_peak',
  'delta_positive',
  'delta_negative',
  'unique_listeners',
  'title_key',
  'artist_keys'
] as const

/** Takes the history of all stations. */
export async function migrateHistory(migration: AzuracastMigration): Promise<void> {
  const { ids, report, stations } = migration
  const playlistNames = await readNames(migration, 'station_playlists', 'name', 'name')
  const streamerNames = await readNames(migration, 'station_streamers', 'display_name', 'streamer_username')
  const songs = openSongCache()
  await migrateSourceTable<string>(migration, {
    table: 'song_history',
    title: 'plays',
    batch: batchRows,
    convertsOnlyNew: true,
    convert(row, read, sourceId) {
      const station = stations.get(read.number(row, 'station_id'))
      if (!station) return null
      const name = `${station.name}: play ${sourceId}`
      const onProblem = (problem: string) =>
        report.leave('times, lengths and counts of plays that are not usable', `${name}: ${problem}`)
      const startedAtMs = toHeardAt(readUsableTime(read, row, 'timestamp_start', () => {}))
      if (startedAtMs === null) {
        report.leave(
          'plays without a usable start',
          `${name}: ${read.text(row, 'timestamp_start') ?? 'NULL'}`
        )
        return null
      }
      const song = songs.find(
        read.text(row, 'artist'),
        read.text(row, 'title'),
        read.text(row, 'album'),
        read.text(row, 'text')
      )
      const playlistId = read.number(row, 'playlist_id')
      const durationMs = readUsableLength(read, row, 'duration', onProblem)
      const endedAtMs = toHeardAt(readUsableTime(read, row, 'timestamp_end', onProblem))
      if (endedAtMs !== null && endedAtMs < startedAtMs)
        onProblem(`timestamp_end ${read.text(row, 'timestamp_end')} is before the start`)
      const count = (column: string) => readUsableCount(read, row, column, onProblem)
      const start = count('listeners_start')
      // A play that had not ended has only the change since its start.
      const end =
        endedAtMs === null
          ? Math.min(
              Math.max(start + readUsableCount(read, row, 'delta_total', onProblem, -maxCount), 0),
              maxCount
            )
          : count('listeners_end')
      return renderCopyLine([
        sourceId,
        station.id,
        ids.find('media', read.number(row, 'media_id'), station.id),
        ids.find('playlist', playlistId),
        cleanLine(playlistNames.get(playlistId) ?? '', 200),
        cleanLine(streamerNames.get(read.number(row, 'streamer_id')) ?? '', 255),
        read.number(row, 'request_id') !== 0,
        read.flag(row, 'is_visible', true),
        song.songId,
        song.artist,
        song.title,
        song.album,
        durationMs,
        startedAtMs,
        // What was on air is over: the next play begins here.
        Math.max(startedAtMs, endedAtMs ?? startedAtMs + durationMs),
        start,
        end,
        parseListenerPeak(read.text(row, 'delta_points'), Math.max(start, end)),
        count('delta_positive'),
        count('delta_negative'),
        count('unique_listeners'),
        song.titleKey,
        song.artistKeys
      ])
    },
    write: writePlays
  })
}

const toHeardAt = (ms: number | null) => (ms === null ? null : ms + playbackDelayMs)

const maxCount = 2_147_483_647

/** The highest of the listener counts during a play, a JSON list of numbers. */
export function parseListenerPeak(points: string | null, least: number): number {
  let peak = least
  for (const digits of points?.match(/\d+/g) ?? []) peak = Math.max(peak, Math.min(Number(digits), maxCount))
  return peak
}

/**
 * Genre and ISRC, which the history of AzuraCast lacks, are those of the file. A play whose id is taken gets another.
 */
async function writePlays(tx: Tx, lines: readonly string[]): Promise<void> {
  await tx`
    create temp table copied_plays (
      id bigint, station_id bigint, media_id bigint, playlist_id bigint, playlist text, streamer text, is_request boolean,
      is_visible boolean, song_id text, artist text, title text, album text, duration_ms integer, started_at_ms bigint,
      ended_at_ms bigint, listeners_start integer, listeners_end integer, listeners_peak integer, delta_positive integer,
      delta_negative integer, unique_listeners integer, title_key bigint, artist_keys bigint[]) on commit drop`
  await copyLinesToTable(tx, 'copied_plays', columns, lines)
  const others = columns.filter(name => name !== 'id')
  await tx`
    insert into song_history (id, genre, isrc, ${tx.unsafe(others.join(', '))}) overriding system value
    select case when h.id is null then c.id else nextval(pg_get_serial_sequence('song_history', 'id')) end,
      coalesce(m.genre, ''), coalesce(m.isrc, ''), ${tx.unsafe(others.map(name => `c.${name}`).join(', '))}
    from copied_plays c
    join stations s on s.id = c.station_id
    -- With a limit each is looked up; otherwise Postgres reads whole tables for each batch.
    left join lateral (select genre, isrc from media where id = c.media_id limit 1) m on true
    left join lateral (select id from song_history where id = c.id limit 1) h on true
    order by c.station_id, c.id`
  // They may be older than plays in memory.
  await tx`select record_play_change(station_id, null) from (select distinct station_id from copied_plays) c`
}

async function readNames(migration: AzuracastMigration, table: string, column: string, otherColumn: string) {
  const names = new Map<number, string>()
  for await (const { row, read } of readSourceRows(migration, table))
    names.set(read.number(row, 'id'), read.text(row, column) || (read.text(row, otherColumn) ?? ''))
  return names
}

interface CachedSong {
  readonly songId: string
  readonly artist: string
  readonly title: string
  readonly album: string
  readonly titleKey: number
  /** As Postgres writes an array. */
  readonly artistKeys: string
}

const cacheSize = 200_000

/** Computes what belongs to the texts of a song. The same songs are played again and again. */
function openSongCache() {
  const cache = openCache<string, CachedSong>({ maxEntries: cacheSize })
  return {
    find(artist: string | null, title: string | null, album: string | null, text: string | null): CachedSong {
      const key = `${artist ?? ''}\0${title ?? ''}\0${album ?? ''}\0${text ?? ''}`
      const known = cache.get(key)
      if (known) return known
      const song = computeSong(artist ?? '', title ?? '', album ?? '', text ?? '')
      cache.set(key, song)
      return song
    }
  }
}

function computeSong(artist: string, title: string, album: string, text: string): CachedSong {
  const cleanArtist = cleanLine(artist, maxTagLengths.artist)
  // A title that was only streamed may have nothing but its text.
  const cleanTitle = cleanLine(title === '' && artist === '' ? text : title, maxTagLengths.title)
  return {
    songId: computeSongId(formatSongText(cleanArtist, cleanTitle)),
    artist: cleanArtist,
    title: cleanTitle,
    album: cleanLine(album, maxTagLengths.album),
    titleKey: titleKey(cleanTitle),
    artistKeys: `{${artistKeys(cleanArtist).join(',')}}`
  }
}
