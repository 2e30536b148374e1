import {
  choiceField,
  validatedField,
  type Field,
  integerField,
  type JsonSchema,
  textField,
  webAddressField
} from '../../model/fields/field.ts'
import { parseUrl } from '../../platform/outbound/networks.ts'
import { decodePercent } from '../../platform/text/percent-encoding.ts'
import type { InstallationSettings } from '../../stores/db/installation-settings.ts'
import { boolean, int64, nullableInt64, string } from '../core/schemas.ts'
import type { ApiSettings } from '../core/settings.ts'

/** The groups of settings, as paths name them. */
export const settingGroups = ['general', 'branding', 'backup', 'geo_ip'] as const
export type SettingGroup = (typeof settingGroups)[number]

/** The settings that change while the program runs, with their validation. */
export const writableSettingFields = {
  instance_name: {
    group: 'general',
    field: textField({
      max: 255,
      fallback: '',
      isTrimmed: true,
      about: 'The name of the website; empty: Cuewire.',
      example: 'Harbour Radio'
    })
  },
  history_keep_days: {
    group: 'general',
    field: validatedField<number | null>(integerField({ min: 0, max: 36_500, about: '' }).input, {
      fallback: null,
      schema: { type: ['integer', 'null'], minimum: 0, maximum: 36_500 },
      about:
        'Days for which ended plays are kept: 0 (forever), or at least 30. Null: HISTORY_RETENTION_DAYS applies.',
      example: 60
    })
  },
  public_theme: {
    group: 'branding',
    field: choiceField(['browser', 'light', 'dark'], {
      fallback: 'browser',
      about: 'The colors of public pages; browser: those that the visitor prefers.'
    })
  },
  homepage_redirect_url: {
    group: 'branding',
    field: webAddressField({ max: 255, about: 'Where the first page redirects to; empty: it is shown.' })
  },
  default_album_art_url: {
    group: 'branding',
    field: webAddressField({
      max: 255,
      about: 'The picture of songs without a cover; empty: that of the program.'
    })
  }
} as const satisfies Partial<
  Record<keyof InstallationSettings, { readonly group: SettingGroup; readonly field: Field<unknown> }>
>

/** A setting that cannot be changed over the API. */
interface FixedSetting {
  /** Null: it is only in the list of all. */
  readonly group: SettingGroup | null
  readonly schema: JsonSchema
  readonly value: (config: ApiSettings) => unknown
  /** Why it cannot be changed, as a sentence that follows its name. Null: it is computed, and ignored in a body. */
  readonly reason: string | null
}

const nullableString = { type: ['string', 'null'] }

function fixed(
  group: SettingGroup | null,
  schema: JsonSchema,
  value: FixedSetting['value'],
  reason: string | null
): FixedSetting {
  return { group, schema, value, reason }
}

const absent = (group: SettingGroup, schema: JsonSchema, value: unknown, feature: string) =>
  fixed(group, schema, () => value, `cannot be changed: Cuewire has no ${feature}.`)

const configured = (
  group: SettingGroup,
  schema: JsonSchema,
  value: FixedSetting['value'],
  variable: string
) => fixed(group, schema, value, `cannot be changed here: it follows from the variable ${variable}.`)

const smtpOf = ({ SMTP_URL: url }: ApiSettings) => (url === undefined ? null : parseUrl(url))
const looksUpCovers = ({ COVER_LOOKUP: lookup }: ApiSettings) => lookup !== 'off'
const theme = 'custom code of pages, which could read what operators see'
const backups = 'backups that are set here: set BACKUP_SCHEDULE, or run npm run backup (docs/backup.md)'
const certificates = 'certificates of its own: a reverse proxy has them'
const places = 'download of a database of places: set GEO_DATABASE to the path of one'

/** The settings that are fixed by the configuration or by what the program does. */
export const fixedSettingFields: Readonly<Record<string, FixedSetting>> = {
  base_url: configured('general', string, config => config.BASE_URL, 'BASE_URL'),
  prefer_browser_url: configured('general', boolean, () => false, 'BASE_URL'),
  use_radio_proxy: absent('general', boolean, false, 'proxy for streams: a reverse proxy has one'),
  always_use_ssl: configured('general', boolean, ({ BASE_URL: url }) => url.startsWith('https:'), 'BASE_URL'),
  api_access_control: configured(
    'general',
    string,
    config => config.CORS_ALLOWED_ORIGINS.join(', '),
    'CORS_ALLOWED_ORIGINS'
  ),
  enable_liquidsoap_editing: absent('general', boolean, false, 'editor of Liquidsoap scripts'),
  enable_all_webhooks: absent('general', boolean, true, 'switch for all web hooks: disable each of them'),
  filter_local_user_urls: configured('general', boolean, () => true, 'WEBHOOK_ALLOWED_NETWORKS'),
  enable_static_nowplaying: absent('general', boolean, true, 'server without static JSON'),
  analytics: absent(
    'general',
    { ...string, enum: ['all', 'no_ip', 'none'] },
    'no_ip',
    'other way of counting listeners'
  ),
  check_for_updates: absent('general', boolean, false, 'check for updates'),
  use_external_album_art_when_processing_media: configured('general', boolean, looksUpCovers, 'COVER_LOOKUP'),
  use_external_album_art_in_apis: configured('general', boolean, looksUpCovers, 'COVER_LOOKUP'),
  last_fm_api_key: absent('general', nullableString, null, 'lookup of covers at Last.fm'),
  sync_disabled: absent('general', boolean, false, 'switch for its workers: stop them'),
  mail_enabled: configured('general', boolean, config => smtpOf(config) !== null, 'SMTP_URL'),
  mail_sender_name: configured('general', string, () => '', 'MAIL_FROM'),
  mail_sender_email: configured('general', string, config => config.MAIL_FROM, 'MAIL_FROM'),
  mail_smtp_host: configured('general', string, config => smtpOf(config)?.hostname ?? '', 'SMTP_URL'),
  mail_smtp_port: configured('general', int64, portOf, 'SMTP_URL'),
  mail_smtp_username: configured(
    'general',
    string,
    config => decodePercent(smtpOf(config)?.username ?? '') ?? '',
    'SMTP_URL'
  ),
  mail_smtp_password: configured('general', { ...string, const: '' }, () => '', 'SMTP_URL'),
  mail_smtp_secure: configured(
    'general',
    boolean,
    config => smtpOf(config)?.protocol === 'smtps:',
    'SMTP_URL'
  ),
  avatar_service: absent('general', nullableString, 'disabled', 'lookup of pictures of people'),
  avatar_default_url: absent('general', nullableString, null, 'pictures of people'),
  acme_email: absent('general', nullableString, null, certificates),
  acme_domains: absent('general', nullableString, null, certificates),
  ip_source: configured(
    'general',
    { ...string, enum: ['local', 'xff', 'cloudflare'] },
    ({ TRUSTED_PROXIES: proxies }) => (proxies.length > 0 ? 'xff' : 'local'),
    'TRUSTED_PROXIES'
  ),
  hide_album_art: absent('branding', boolean, false, 'pages without covers'),
  hide_product_name: absent('branding', boolean, false, 'name of its own on pages if instance_name is set'),
  public_custom_css: absent('branding', nullableString, null, theme),
  public_custom_js: absent('branding', nullableString, null, theme),
  internal_custom_css: absent('branding', nullableString, null, theme),
  backup_enabled: absent('backup', boolean, false, backups),
  backup_time_code: absent('backup', nullableString, null, backups),
  backup_exclude_media: absent('backup', boolean, false, backups),
  backup_keep_copies: absent('backup', int64, 0, backups),
  backup_storage_location: absent('backup', nullableInt64, null, backups),
  backup_format: absent('backup', nullableString, null, backups),
  backup_last_run: fixed('backup', int64, () => 0, null),
  backup_last_output: fixed('backup', nullableString, () => null, null),
  geolite_license_key: absent('geo_ip', nullableString, null, places),
  geolite_last_run: fixed('geo_ip', int64, () => 0, null),
  update_results: fixed(null, { type: 'null' }, () => null, null),
  update_last_run: fixed(null, int64, () => 0, null),
  external_ip: fixed(null, nullableString, () => null, null)
}

function portOf(config: ApiSettings): number {
  const url = smtpOf(config)
  if (url === null) return 0
  return url.port === '' ? (url.protocol === 'smtps:' ? 465 : 587) : Number(url.port)
}
