import { parseConfig } from '../../config.ts'
import { formatSize } from '../../library/storage/size.ts'
import { toNetworkList } from '../../platform/outbound/networks.ts'
import { type CommandContext, reportInterruption } from '../../platform/process/command-context.ts'
import { openCommandLine, toAbsolutePath } from '../../platform/process/command-line.ts'
import { openPhaseProgress } from '../../platform/process/phase-progress.ts'
import { verifyArchive } from '../../upkeep/archives/read-archive.ts'
import { withCommandDatabase } from '../command-database.ts'
import { copyStatementSeconds } from './backup-command.ts'
import { exportStation } from './export-station.ts'
import { importStation } from './import-station.ts'

const exportUsage = 'usage: npm run export-station -- [OPTIONS] STATION FILE'

const exportHelp = `${exportUsage}

Writes one station (its id or short name) to FILE (.tar.gz), while Cuewire runs: settings, mounts, playlists, songs, streamers, web hooks,
history and listener counts. Credentials that are stored encrypted are left out.

  --media   include the files of songs that are stored on this machine
  --help    show this help
`

const outcome = 'nothing was written'

const exportLine = openCommandLine(exportUsage, {
  media: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' }
})

/** Exports a station. Returns the exit code: 0 on success, 1 after an error, 130 if `signal` aborted it. */
export function exportStationCommand(call: CommandContext, signal: AbortSignal): Promise<number> {
  return reportInterruption(call, { signal, outcome }, async () => {
    const { values, positionals } = exportLine.parse(call.args)
    if (values.help) {
      call.stdout.write(exportHelp)
      return 0
    }
    const [station, file, ...others] = positionals
    if (station === undefined || file === undefined || others.length > 0)
      throw exportLine.usageError('give one STATION and one FILE')
    const archive = toAbsolutePath(call, file)
    const progress = openPhaseProgress(call.stderr)
    try {
      const pool = { name: 'export', statementSeconds: copyStatementSeconds }
      const { bytes, manifest, unreadable } = await withCommandDatabase(
        parseConfig(call.env),
        call,
        pool,
        (sql, dataDir) =>
          exportStation(sql, archive, {
            station,
            dataDir,
            media: values.media ?? false,
            signal,
            onRows: progress.rows,
            onCheck: share => progress.share('reading the file', share)
          })
      )
      progress.end()
      const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
      call.stdout.write(
        `${archive}: ${formatSize(BigInt(bytes))}, ${rows} rows, ${manifest.files.count} files; read back without differences.\n`
      )
      for (const path of unreadable) call.stdout.write(`not readable, and not in it: ${path}\n`)
      return 0
    } finally {
      progress.end()
    }
  })
}

const importUsage = 'usage: npm run import-station -- [--short-name NAME] FILE'

const importHelp = `${importUsage}

Creates the station of a file that export-station has written, with new ids, while Cuewire runs.

  --short-name NAME   the short name here, if that of the file is taken
  --help              show this help
`

const importLine = openCommandLine(importUsage, {
  'short-name': { type: 'string' },
  help: { type: 'boolean', short: 'h' }
})

/** Imports a station. Returns the exit code: 0 on success, 1 after an error, 130 if `signal` aborted it. */
export function importStationCommand(call: CommandContext, signal: AbortSignal): Promise<number> {
  return reportInterruption(call, { signal, outcome }, async () => {
    const { values, positionals } = importLine.parse(call.args)
    if (values.help) {
      call.stdout.write(importHelp)
      return 0
    }
    const [file, ...others] = positionals
    if (file === undefined || others.length > 0) throw importLine.usageError('give one FILE')
    const archive = toAbsolutePath(call, file)
    const progress = openPhaseProgress(call.stderr)
    try {
      const onProgress = (share: number) => progress.share('reading the file', share)
      const contents = await verifyArchive(archive, { signal, onProgress })
      const pool = { name: 'station import', statementSeconds: copyStatementSeconds }
      const config = parseConfig(call.env)
      const imported = await withCommandDatabase(config, call, pool, (sql, dataDir) =>
        importStation(sql, archive, contents, {
          shortName: values['short-name'] ?? null,
          dataDir,
          allowedNetworks: toNetworkList(config.WEBHOOK_ALLOWED_NETWORKS),
          signal,
          onRows: table => progress.share(table, 0)
        })
      )
      progress.end()
      const { id, shortName, disabledHooks, files, ignored } = imported
      call.stdout.write(`Station ${id} (${shortName}) was created, with ${files} files.\n`)
      if (ignored.length > 0)
        call.stdout.write(
          `Ignored, because exports do not have them: ${ignored.slice(0, maxListed).join(', ')}${ignored.length > maxListed ? ` and ${ignored.length - maxListed} more` : ''}.\n`
        )
      if (disabledHooks > 0)
        call.stdout.write(
          `${disabledHooks} web hooks are disabled, because their credentials are not in the file.\n`
        )
      if (contents.header.media === 'by reference')
        call.stdout.write(
          `Its songs are not in the file: copy them to stations/${id}/media in DATA_DIR, or choose a storage location.\n`
        )
      return 0
    } finally {
      progress.end()
    }
  })
}

const maxListed = 20
