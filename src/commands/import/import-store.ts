import type { Config } from '../../config.ts'
import { StorageFault } from '../../library/storage/storage-fault.ts'
import { type MediaStore, openMediaStore } from '../../library/uploads/media-store.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { isKeyOfDatabase, readSecretsKey } from '../../stores/secrets/secrets-key.ts'
import { openSecrets } from '../../stores/secrets/secrets.ts'

/**
 * Opens the media storage of a station for a command. Throws an `OperatorError` if it cannot be used, and if DATA_DIR
 * is not that of the servers, which would not find there what the command stores.
 */
export async function openImportStore(sql: Sql, config: Config, stationId: number): Promise<MediaStore> {
  const key = await readSecretsKey(config.DATA_DIR, config.SECRETS_KEY)
  // Without a key nothing was sealed yet, or this is not the DATA_DIR of the servers.
  const usedKey = key ?? '0'.repeat(64)
  if (!(await isKeyOfDatabase(sql, usedKey)))
    throw new OperatorError(
      `${config.DATA_DIR} is not the DATA_DIR of the servers, or SECRETS_KEY not theirs: set both as for the servers`
    )
  const secrets = openSecrets(Buffer.from(usedKey, 'hex'))
  try {
    return await openMediaStore({ sql, config, secrets }, stationId)
  } catch (error) {
    if (error instanceof StorageFault || error instanceof ApiError)
      throw new OperatorError(`the media storage cannot be used: ${error.message}`, { cause: error })
    throw error
  }
}
