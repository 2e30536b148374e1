import type { Config } from './config.ts'
import type { Sql } from './db/sql.ts'
import { OperatorError } from './errors.ts'
import { loadSecretsKey } from './secrets-key.ts'
import { openSecrets, type Secrets } from './secrets.ts'

const purpose = 'settings.secrets_check'

/**
 * Opens the secrets that the database keeps. Throws an `OperatorError` where they were sealed with another key: what
 * this process seals, the others could not open.
 */
export async function openKeptSecrets(sql: Sql, config: Config): Promise<Secrets> {
  const secrets = openSecrets(await loadSecretsKey(config.DATA_DIR, config.SECRETS_KEY))
  await sql`
    insert into settings (name, value) values ('secrets check', ${secrets.seal('cuewire', purpose)})
    on conflict (name) do nothing`
  const [row] = await sql<{ value: string }[]>`select value from settings where name = 'secrets check'`
  try {
    secrets.open(row?.value ?? '', purpose)
  } catch {
    throw new OperatorError(
      'SECRETS_KEY is not the key this database was used with: give all processes the same SECRETS_KEY, or the file ' +
        'secrets-key of the first one in their DATA_DIR. If the key is lost, so is what it sealed: run ' +
        "`delete from settings where name = 'secrets check'` in Postgres and enter the secrets of storage and hooks again"
    )
  }
  return secrets
}
