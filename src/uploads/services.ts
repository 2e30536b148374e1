import type { Config } from '../config.ts'
import type { PlayoutServices } from '../playout/services.ts'
import type { Secrets } from '../security/secrets.ts'

/** What uploads work with. */
export interface UploadServices extends PlayoutServices {
  readonly config: Config
  readonly secrets: Secrets
}
