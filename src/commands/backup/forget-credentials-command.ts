import { parseConfig } from '../../config.ts'
import { type CommandContext, reportOperatorErrors } from '../../platform/process/command-context.ts'
import { openCommandLine } from '../../platform/process/command-line.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { isKeyOfDatabase, readSecretsKey } from '../../stores/secrets/secrets-key.ts'
import { assertDatabaseNotInUse } from '../../upkeep/archives/empty-database.ts'
import {
  findSealedCredentials,
  type RecordWithCredentials,
  removeSealedCredentials
} from '../../upkeep/archives/forget-credentials.ts'
import { withCommandDatabase } from '../command-database.ts'

const usage = 'usage: npm run forget-credentials -- [--yes]'

const help = `${usage}

For an installation whose secrets key is lost: removes the stored credentials, which nothing can decrypt, so that Cuewire
starts with another key. Lists them, because they have to be entered again. Web hooks with a credential are disabled. Stop
all processes of Cuewire first. While the key opens the stored credentials, the command is refused.

  --yes    remove them; without it, they are only listed
  --help   show this help

The database is that of DATABASE_URL, else the one in DATA_DIR.
`

const commandLine = openCommandLine(usage, {
  yes: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' }
})

/** Removes credentials that cannot be decrypted. Returns the exit code: 0 if they were removed, else 1. */
export function forgetCredentialsCommand(call: CommandContext): Promise<number> {
  return reportOperatorErrors(call, 1, async () => {
    const { values, positionals } = commandLine.parse(call.args)
    if (values.help) {
      call.stdout.write(help)
      return 0
    }
    if (positionals.length > 0) throw commandLine.usageError('give no arguments')
    const config = parseConfig(call.env)
    const { yes = false } = values
    const found = await withCommandDatabase(config, call, { name: 'credentials' }, async (sql, dataDir) => {
      const key = await readSecretsKey(dataDir, config.SECRETS_KEY)
      if (await isKeyOfDatabase(sql, key ?? ''))
        throw new OperatorError(
          'the stored credentials can be decrypted with the key here, or there are none: nothing to remove'
        )
      return sql.begin(async tx => {
        await assertDatabaseNotInUse(tx)
        const credentials = await findSealedCredentials(tx)
        if (yes) await removeSealedCredentials(tx)
        return credentials
      })
    })
    call.stdout.write(renderCredentials(found, yes))
    if (!yes) throw new OperatorError('nothing was removed: add --yes to remove these credentials')
    return 0
  })
}

const maxListed = 1_000

function renderCredentials(found: readonly RecordWithCredentials[], isRemoved: boolean): string {
  const lines = found
    .slice(0, maxListed)
    .map(({ table, id, name, credentials }) => `  ${table} ${id} (${name}): ${credentials.join(', ')}`)
  if (found.length > maxListed) lines.push(`  and ${found.length - maxListed} more records`)
  if (lines.length === 0) lines.push('  none')
  const title = isRemoved
    ? 'Removed these credentials. Start Cuewire, enter them again, and enable the web hooks:'
    : 'These credentials have to be entered again:'
  return `${title}\n${lines.join('\n')}\n`
}
