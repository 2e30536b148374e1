import { parseConfig } from '../../config.ts'
import { formatSize } from '../../library/storage/size.ts'
import type { CommandContext } from '../../platform/process/command-context.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { findStationForCommand, createUnknownStationError } from '../../stores/db/named-stations.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { withCommandDatabase } from '../command-database.ts'
import { openImportStore } from './import-store.ts'
import { assertStoreHasRoom, measureTakeIn, takeInSongs } from './take-in.ts'

export interface TakeInRequest {
  /** The id or short name of a station; all stations without it. */
  readonly station: string | undefined
  readonly isDryRun: boolean
}

/**
 * Takes in the songs that earlier imports left where they are. Returns the exit code: 0 if none is left, 1 if some are,
 * 130 if `signal` aborted it.
 */
export async function runTakeIn(
  { env, stdout, stderr }: CommandContext,
  { station, isDryRun }: TakeInRequest,
  signal: AbortSignal
): Promise<number> {
  const config = parseConfig(env)
  return withCommandDatabase(config, { env, stderr }, { name: 'import' }, async (sql, dataDir) => {
    const known = station === undefined ? null : await findStationForCommand(sql, station)
    if (station !== undefined && !known) throw await createUnknownStationError(sql, station)
    const stations = await findStations(sql, known?.id ?? null)
    if (stations.length === 0) stdout.write('No songs are outside of the media storage.\n')
    let isComplete = true
    for (const { id, name } of stations) {
      if (signal.aborted) break
      try {
        const media = await openImportStore(sql, { ...config, DATA_DIR: dataDir }, id)
        const options = { stationId: id, media, roots: null, signal }
        const { songs, copies, bytes } = await measureTakeIn(sql, options)
        if (songs === 0) continue
        const size = `${copies} files to copy, ${formatSize(BigInt(bytes))}`
        stdout.write(`${name}: ${songs} songs outside of the media storage: ${size}\n`)
        await assertStoreHasRoom(sql, media, bytes)
        if (isDryRun) continue
        const { taken, left } = await takeInSongs(sql, {
          ...options,
          onSong: ({ path, reason }) => {
            if (reason !== undefined) stdout.write(`not taken in: ${path}: ${reason}\n`)
          }
        })
        stdout.write(`${name}: ${taken} taken in, ${left} left\n`)
        if (left > 0) isComplete = false
      } catch (error) {
        // Other stations may have another storage.
        if (!(error instanceof OperatorError)) throw error
        stderr.write(`${name}: ${error.message}\n`)
        isComplete = false
      }
    }
    if (signal.aborted) return 130
    return isComplete ? 0 : 1
  })
}

const findStations = (sql: Sql, id: number | null) => sql<{ id: number; name: string }[]>`
  select id, short_name as name from stations
  where deleted_at is null and (${id}::bigint is null or id = ${id})
    and exists (select from media m where m.station_id = stations.id and m.remote_playlist_id is null
      and starts_with(m.path, '/'))
  order by id`
