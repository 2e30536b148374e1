/** The variables that the checks read; undefined: not set. `docs/configuration.md` describes them. */
export interface CheckedSettings {
  readonly BASE_URL: string
  readonly HOST: string
  readonly PORT: number
  readonly METRICS_HOST: string
  readonly METRICS_PORT?: number | undefined
  readonly DATABASE_URL?: string | undefined
  readonly REDIS_URL?: string | undefined
  readonly SECRETS_KEY?: string | undefined
  readonly DATA_DIR: string
  readonly STORAGE_ROOTS: readonly string[]
  readonly BACKUP_STORAGE?: string | undefined
  readonly TRUSTED_PROXIES: readonly string[]
  readonly HLS_ACCESS_LOG?: string | undefined
  readonly GEO_DATABASE?: string | undefined
}
