import type { UploadSettings } from '../../library/uploads/services.ts'
import type { Dialect } from '../../model/station/dialect.ts'
import type { CheckedSettings } from '../../upkeep/checks/checked-settings.ts'
import type { SendSettings } from '../../webhooks/deliveries/send.ts'

/** The variables that the API reads and shows. `docs/configuration.md` describes them. */
export interface ApiSettings extends CheckedSettings, UploadSettings, SendSettings {
  readonly ADMIN_API_KEY?: string | undefined
  readonly API_DIALECT: Dialect
  readonly CORS_ALLOWED_ORIGINS: readonly string[]
  readonly COVER_LOOKUP: 'off' | 'musicbrainz'
  readonly HISTORY_RETENTION_DAYS: number
}
