import { parseConfig } from '../../config.ts'
import { type CommandContext, reportOperatorErrors } from '../../platform/process/command-context.ts'
import { openCommandLine } from '../../platform/process/command-line.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { listMigrations, migrateSchema, migrationSeconds } from '../../stores/db/migrate.ts'
import { withDatabasePool } from '../command-database.ts'

const usage = 'usage: npm run migrate'

const help = `${usage}

Migrates the database of DATABASE_URL to this release, prints what ran, and exits. Servers and workers do the same when
they start; run it first where a long migration must not delay them. The previous release keeps running meanwhile.

  --help   show this help
`

const commandLine = openCommandLine(usage, { help: { type: 'boolean', short: 'h' } })

/** Migrates the database of `DATABASE_URL`. Returns the exit code: 0 if it has the schema of this release, else 1. */
export function migrateCommand(call: CommandContext): Promise<number> {
  return reportOperatorErrors(call, 1, async () => {
    const { values, positionals } = commandLine.parse(call.args)
    if (values.help) {
      call.stdout.write(help)
      return 0
    }
    if (positionals.length > 0) throw commandLine.usageError('there are no arguments')
    const { DATABASE_URL: url } = parseConfig(call.env)
    if (url === undefined)
      throw new OperatorError(
        'DATABASE_URL is not set: set the URL of a Postgres 14 or newer (npm start migrates the embedded one)'
      )
    const place = { variable: 'DATABASE_URL' }
    const pool = { name: 'migration', statementSeconds: migrationSeconds, migrates: false, place }
    const ran = await withDatabasePool(url, pool, migrateSchema)
    const { length: count } = await listMigrations()
    call.stdout.write(
      ran.length === 0
        ? `The database has all ${count} migrations.\n`
        : ran.map(name => `ran ${name}\n`).join('')
    )
    return 0
  })
}
