import { openCache } from '../../platform/runtime/cache.ts'
import { withDeadline } from '../../platform/runtime/deadline.ts'
import type { Sql, Tx } from './sql.ts'

/** What operators set for the whole installation while it runs, by the names of the API. */
export interface InstallationSettings {
  /** Random; identifies the installation to clients. */
  readonly app_unique_identifier: string
  /** Shown as the name of the website. Empty: the name of the program. */
  readonly instance_name: string
  /** Where the first page redirects to. Empty: it is shown. */
  readonly homepage_redirect_url: string
  /** The picture of songs without a cover. Empty: that of the program. */
  readonly default_album_art_url: string
  readonly public_theme: 'browser' | 'light' | 'dark'
  /** Days for which ended plays are kept; 0: forever. Null: as configured. */
  readonly history_keep_days: number | null
  /** The hashes of pictures that replace those of the program, by type. */
  readonly assets: Readonly<Record<string, string>>
}

const defaults: InstallationSettings = {
  app_unique_identifier: '',
  instance_name: '',
  homepage_redirect_url: '',
  default_album_art_url: '',
  public_theme: 'browser',
  history_keep_days: null,
  assets: {}
}

/** The row of `settings` that contains them as JSON. */
const row = 'installation'

/** Reads the settings. */
export async function readInstallationSettings(sql: Sql | Tx): Promise<InstallationSettings> {
  const [found] = await sql<
    { values: Partial<InstallationSettings> | null; assets: Record<string, string> }[]
  >`
    select (select value::jsonb from settings where name = ${row}) as values,
      coalesce((select jsonb_object_agg(type, hash) from custom_assets), '{}') as assets`
  return { ...defaults, ...found?.values, assets: found?.assets ?? {} }
}

/** Changes the settings in a transaction. `change` returns the values to store. */
export async function changeInstallationSettings(
  tx: Tx,
  change: (before: InstallationSettings) => Partial<InstallationSettings>
): Promise<void> {
  // An upsert of nothing locks the row, or creates it.
  await tx`
    insert into settings (name, value)
    values (${row}, jsonb_build_object('app_unique_identifier', gen_random_uuid())::text)
    on conflict (name) do update set value = settings.value`
  const changed = change(await readInstallationSettings(tx))
  await tx`update settings set value = (value::jsonb || ${tx.json({ ...changed })}::jsonb)::text where name = ${row}`
}

/** Ensures that the installation has an identifier, which is stored with the settings. */
export async function ensureInstallationSettings(sql: Sql): Promise<InstallationSettings> {
  const found = await readInstallationSettings(sql)
  if (found.app_unique_identifier !== '') return found
  await sql.begin(tx => changeInstallationSettings(tx, () => ({})))
  return readInstallationSettings(sql)
}

/** A change takes effect on all servers within this time. */
const ttlMs = 1_000
const timeoutMs = 1_500

/** Returns a function that reads the settings at most once a second. Without Postgres, the last ones apply. */
export function openSettingsReader(sql: Sql) {
  const cache = openCache<'settings', InstallationSettings>({ maxEntries: 1, ttlMs })
  let last = defaults

  async function reload(): Promise<InstallationSettings> {
    try {
      last = await withDeadline(timeoutMs, 'reading the settings', () => readInstallationSettings(sql))
    } catch {
      // Pages are shown with the last settings during an outage.
    }
    return last
  }

  return {
    read: (): Promise<InstallationSettings> => cache.load('settings', reload),
    /** Makes the next call read them again, after a change by this process. */
    forget: (): void => cache.delete('settings')
  }
}

export type SettingsReader = ReturnType<typeof openSettingsReader>
