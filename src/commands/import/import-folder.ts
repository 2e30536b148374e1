import { realpath } from 'node:fs/promises'

import type { Config } from '../../config.ts'
import type { Logger } from '../../platform/runtime/log.ts'
import { openSql } from '../../stores/db/sql.ts'

/** Imports MEDIA_DIR into the station's playlist `Rotation`, in the background. Errors are logged. */
export async function importMediaDir(
  databaseUrl: string,
  stationId: number,
  config: Config & { readonly MEDIA_DIR: string },
  log: Logger,
  signal: AbortSignal
): Promise<void> {
  const sql = openSql(databaseUrl, { max: 2, name: 'import' })
  try {
    // Loaded on demand: the parsers are a large library.
    const { importMedia } = await import('./import.ts')
    const { openImportStore } = await import('./import-store.ts')
    const { takeInImported } = await import('./take-in.ts')
    const media = await openImportStore(sql, config, stationId).catch((error: unknown) => {
      log.warn({ err: error }, 'media folder imported without copies: run npm run import -- --take-in')
      return null
    })
    const counts = await importMedia(sql, {
      stationId,
      playlistName: 'Rotation',
      paths: [config.MEDIA_DIR],
      media,
      signal,
      onProgress: ({ skipReason: reason, path }) => {
        if (reason !== undefined) log.warn({ path, reason }, 'file skipped')
      }
    })
    log.info(counts, 'media folder imported')
    if (media === null) return
    const roots = [await realpath(config.MEDIA_DIR)]
    log.info(
      await takeInImported(sql, { stationId, media, roots, signal }),
      'files copied into the media storage'
    )
  } catch (error) {
    if (!signal.aborted) log.error({ err: error }, 'media folder not completely imported')
  } finally {
    await sql.end({ timeout: 2 })
  }
}
