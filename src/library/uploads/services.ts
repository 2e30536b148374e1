import type { EngineServices } from '../../engine/services.ts'
import type { Secrets } from '../../stores/secrets/secrets.ts'

/** The variables that uploads read. */
export interface UploadSettings {
  readonly DATA_DIR: string
  readonly STORAGE_ROOTS: readonly string[]
  readonly UPLOAD_MAX_MB: number
}

/** What uploads work with. */
export interface UploadServices extends EngineServices {
  readonly config: UploadSettings
  readonly secrets: Secrets
}
