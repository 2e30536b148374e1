import { writableSettingFields } from '../../../api/admin/setting-fields.ts'
import { findRetentionProblems } from '../../../api/admin/settings.ts'
import type { Fields } from '../../../model/fields/field.ts'
import { isWebUrl } from '../../../platform/outbound/networks.ts'
import {
  changeInstallationSettings,
  type InstallationSettings,
  readInstallationSettings
} from '../../../stores/db/installation-settings.ts'
import { toValidRow } from '../accept-record.ts'
import { type AzuracastMigration, readStepProgress, readSourceRows, storeStepProgress } from '../migration.ts'
import type { RowReader, SourceRow } from '../source.ts'

const step = 'settings'

/** Settings of AzuraCast that operators of Cuewire can change while it runs. */
const fields: Fields = Object.fromEntries(
  Object.entries(writableSettingFields).map(([name, { field }]) => [name, field])
)

/**
 * Takes the settings of the installation that Cuewire has, unless they were changed in Cuewire. The report says what
 * others mean for its environment variables.
 */
export async function migrateSettings(migration: AzuracastMigration): Promise<void> {
  for await (const { row, read } of readSourceRows(migration, 'settings')) {
    await storeSettings(migration, mapSettings(migration, row, read))
    adviseVariables(migration, row, read)
  }
}

/** Reads the settings that are not defaults. */
function mapSettings(
  { report, secrets }: AzuracastMigration,
  row: SourceRow,
  read: RowReader
): Partial<InstallationSettings> {
  const refuse = (problem: string) =>
    report.leave('settings of the installation that are not accepted', problem)
  const set = Object.keys(fields).filter(name => (read.text(row, name) ?? '') !== '')
  const body = set.map(name => [
    name,
    name === 'history_keep_days' ? read.number(row, name) : read.text(row, name)
  ])
  const accepted = toValidRow({ table: 'settings', fields }, Object.fromEntries(body), secrets, refuse) ?? {}
  const values: Partial<InstallationSettings> = Object.fromEntries(
    Object.entries(accepted).filter(([name, value]) => value !== fields[name]?.fallback)
  )
  const problems = findRetentionProblems(values)
  for (const { message } of problems) refuse(message)
  const { history_keep_days: _, ...others } = values
  return problems.length === 0 ? values : others
}

const isUnset = (stored: InstallationSettings, name: string) =>
  Reflect.get(stored, name) === fields[name]?.fallback

async function storeSettings(
  migration: AzuracastMigration,
  values: Partial<InstallationSettings>
): Promise<void> {
  const { sql, isDryRun, report } = migration
  const { isComplete } = await readStepProgress(migration, step)
  const stored = await readInstallationSettings(sql)
  const fresh = Object.keys(values).filter(name => !isComplete && isUnset(stored, name))
  const known = Object.entries(values).filter(([name, value]) => Reflect.get(stored, name) === value)
  const names = [...fresh, ...known.map(([name]) => name)]
  if (names.length > 0)
    report.take(`settings of the installation: ${names.join(', ')}`, names.length, fresh.length)
  const days = values.history_keep_days
  if (fresh.includes('history_keep_days'))
    report.advise(
      `Plays are kept ${days === 0 ? 'forever' : `for ${days} days`}, as in AzuraCast. HISTORY_RETENTION_DAYS has no effect while that is set.`
    )
  for (const name of Object.keys(values).filter(each => !names.includes(each)))
    report.leave('settings of the installation that Cuewire has another value of', name)
  if (isDryRun || isComplete) return
  await sql.begin(async tx => {
    await changeInstallationSettings(tx, before =>
      Object.fromEntries(Object.entries(values).filter(([name]) => isUnset(before, name)))
    )
    await storeStepProgress(tx, migration, step, { isComplete: true })
  })
}

/** The rest of Cuewire is configured by environment variables. */
function adviseVariables({ report }: AzuracastMigration, row: SourceRow, read: RowReader): void {
  const text = (column: string) => read.text(row, column) ?? ''
  const baseUrl = text('base_url')
  const scheme = read.flag(row, 'always_use_ssl') ? 'https' : 'http'
  if (baseUrl !== '') report.advise(`BASE_URL=${isWebUrl(baseUrl) ? baseUrl : `${scheme}://${baseUrl}`}`)
  if (text('api_access_control') !== '') report.advise(`CORS_ALLOWED_ORIGINS=${text('api_access_control')}`)
  if (read.flag(row, 'mail_enabled') && text('mail_smtp_host') !== '') {
    const user = encodeURIComponent(text('mail_smtp_username'))
    const mailScheme = read.flag(row, 'mail_smtp_secure', true) ? 'smtps' : 'smtp'
    const address = `${text('mail_smtp_host')}:${read.number(row, 'mail_smtp_port')}`
    report.advise(
      `SMTP_URL=${mailScheme}://${user === '' ? '' : `${user}:PASSWORD@`}${address} (the password is not printed)`
    )
    if (text('mail_sender_email') !== '') report.advise(`MAIL_FROM=${text('mail_sender_email')}`)
  }
  for (const [column, defaults] of Object.entries(unusedSettings)) {
    const value = text(column)
    if (value !== '' && !defaults.includes(value))
      report.leave('settings of the installation without an equivalent', column)
  }
}

const off = ['0']
const on = ['1']

/**
 * Settings that have no equivalent, with the values that mean nothing: the defaults of AzuraCast, and those of its
 * form.
 */
const unusedSettings: Readonly<Record<string, readonly string[]>> = {
  acme_domains: [],
  acme_email: [],
  analytics: ['all', 'no_ip'],
  avatar_default_url: [],
  avatar_service: ['gravatar'],
  backup_enabled: off,
  check_for_updates: on,
  enable_all_webhooks: on,
  enable_liquidsoap_editing: on,
  filter_local_user_urls: on,
  geolite_license_key: [],
  hide_album_art: off,
  hide_product_name: off,
  internal_custom_css: [],
  ip_source: ['local'],
  last_fm_api_key: [],
  mail_sender_name: [],
  prefer_browser_url: on,
  public_custom_css: [],
  public_custom_js: [],
  sync_disabled: off,
  use_external_album_art_in_apis: off,
  use_external_album_art_when_processing_media: off,
  use_radio_proxy: on
}
