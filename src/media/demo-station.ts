import { access, constants, readdir } from 'node:fs/promises'

import type { Config } from '../config.ts'
import { openSql, type Sql } from '../db/sql.ts'
import { insertStation } from '../db/stations.ts'
import { OperatorError } from '../runtime/errors.ts'
import type { Logger } from '../runtime/log.ts'
import { createDemoStation } from './demo.ts'

/**
 * Makes sure that `MEDIA_DIR` is a folder that can be listed. Throws an `OperatorError` that says why it is
 * not.
 */
export async function checkMediaDir(folder: string): Promise<void> {
  try {
    await access(folder, constants.R_OK | constants.X_OK)
    await readdir(folder)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new OperatorError(
      `MEDIA_DIR ${folder} is no readable folder (${code}): correct it, or leave it out`
    )
  }
}

/**
 * Creates the station `demo` where `DEMO` is on and there is no station, with the built-in catalogue unless
 * `MEDIA_DIR` brings music of its own. Returns the id of the station that `MEDIA_DIR` goes to, null without
 * one.
 */
export async function prepareDemo(sql: Sql, config: Config): Promise<number | null> {
  const [{ stations } = { stations: 0 }] = await sql<
    { stations: number }[]
  >`select count(*) as stations from stations where deleted_at is null`
  if (!config.MEDIA_DIR) {
    if (config.DEMO && stations === 0) await createDemoStation(sql)
    return null
  }
  return sql.begin(async tx => {
    const created = await insertStation(tx, { shortName: 'demo', name: 'Cuewire Demo' })
    const [known] = await tx<{ id: number }[]>`select id from stations where short_name = 'demo'`
    return created ?? known?.id ?? null
  })
}

/** Imports `folder` into the station's playlist `Rotation`, while the program runs. Faults are logged. */
export async function importFolder(
  databaseUrl: string,
  stationId: number,
  folder: string,
  log: Logger,
  signal: AbortSignal
): Promise<void> {
  const sql = openSql(databaseUrl, { max: 2, name: 'import' })
  try {
    // Reading audio files takes a large library, and this is the only use in a start.
    const { importMedia } = await import('./import.ts')
    const counts = await importMedia(sql, {
      stationId,
      playlistName: 'Rotation',
      paths: [folder],
      signal,
      onProgress: event => {
        if (event.type === 'problem-found')
          log.warn({ path: event.path, reason: event.reason }, 'file skipped')
      }
    })
    log.info(counts, 'media folder imported')
  } catch (error) {
    if (!signal.aborted) log.error({ err: error }, 'media folder not imported')
  } finally {
    await sql.end({ timeout: 2 })
  }
}
