import { isDeepStrictEqual } from 'node:util'

import type { Fields, JsonSchema } from '../../model/fields/field.ts'
import { bodySchema, changesValidator } from '../../model/fields/validators.ts'
import { assertNoFieldErrors, fieldError, type FieldError } from '../../platform/runtime/errors.ts'
import {
  changeInstallationSettings,
  ensureInstallationSettings,
  type InstallationSettings
} from '../../stores/db/installation-settings.ts'
import { actionRoute } from '../core/actions.ts'
import { toAuditedChanges, type AuditedChanges } from '../core/audit.ts'
import { parseBody } from '../core/parse.ts'
import type { RecordName } from '../core/record-names.ts'
import { actionReply, type ApiRoute, apiRoute, jsonReply } from '../core/route.ts'
import { exactObject, int64, namedSchema, string } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import {
  fixedSettingFields,
  type SettingGroup,
  settingGroups,
  writableSettingFields
} from './setting-fields.ts'

const access = 'administer settings'
const tag = 'Settings'

/** Settings that are computed, beside those of `fixedSettingFields`. */
const computed = {
  app_unique_identifier: { ...string, format: 'uuid' },
  setup_complete_time: { ...int64, description: 'Unix seconds.' },
  sync_last_run: { ...int64, description: 'Unix seconds up to which this server has missed no change.' }
}

/** The writable settings of a group, or (null) all of them. */
function writableOf(group: SettingGroup | null): Fields {
  const chosen = Object.entries(writableSettingFields).filter(
    ([, each]) => group === null || each.group === group
  )
  return Object.fromEntries(chosen.map(([name, { field }]) => [name, field]))
}

function fixedOf(group: SettingGroup | null) {
  return Object.entries(fixedSettingFields).filter(([, each]) => group === null || each.group === group)
}

const renderedSchema = ({ default: _default, ...schema }: JsonSchema): JsonSchema => schema

function schemaOf(group: SettingGroup | null): JsonSchema {
  return exactObject({
    ...(group === null ? computed : {}),
    ...Object.fromEntries(
      Object.entries(writableOf(group)).map(([name, { schema }]) => [name, renderedSchema(schema)])
    ),
    ...Object.fromEntries(fixedOf(group).map(([name, { schema }]) => [name, schema]))
  })
}

const settingsSchema = namedSchema('Settings', 'All settings of the installation.', schemaOf(null))

async function render(group: SettingGroup | null, stored: InstallationSettings, services: ApiServices) {
  const { config } = services
  const names = new Set(Object.keys(writableOf(group)))
  const values = withRetention(stored, services)
  return {
    ...(group === null ? await readComputed(services, stored) : {}),
    ...Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name))),
    ...Object.fromEntries(fixedOf(group).map(([name, { value }]) => [name, value(config)]))
  }
}

/** The settings with the retention that applies. */
const withRetention = (stored: InstallationSettings, { config }: ApiServices): InstallationSettings => ({
  ...stored,
  history_keep_days: stored.history_keep_days ?? config.HISTORY_RETENTION_DAYS
})

async function readComputed(
  { reads: sql, live }: ApiServices,
  { app_unique_identifier: id }: InstallationSettings
) {
  const [first] = await sql<{ at: number }[]>`
    select floor(extract(epoch from min(ran_at)))::bigint as at from migrations`
  return {
    app_unique_identifier: id,
    setup_complete_time: first?.at ?? 0,
    sync_last_run: Math.max(0, Math.floor(live.health().checkedAtMs / 1_000))
  }
}

/** Clients send records back as they read them, and forms send empty text for null. */
const isSame = (sent: unknown, value: unknown) =>
  isDeepStrictEqual(sent, value) || ((sent ?? '') === '' && (value ?? '') === '')

/** The problems of fixed settings to which a body gives other values. */
function findFixedProblems(group: SettingGroup | null, body: unknown, services: ApiServices): FieldError[] {
  if (typeof body !== 'object' || body === null) return []
  return fixedOf(group).flatMap(([name, { value, reason }]) => {
    if (reason === null || !Object.hasOwn(body, name)) return []
    return isSame(Reflect.get(body, name), value(services.config)) ? [] : [fieldError(name, 'fixed', reason)]
  })
}

/** Returns the problem of a retention of less than 30 days. */
export function findRetentionProblems({
  history_keep_days: days
}: Partial<InstallationSettings>): FieldError[] {
  if (days === undefined || days === null || days === 0 || days >= 30) return []
  return [fieldError('history_keep_days', 'out_of_range', 'must be 0 or at least 30.')]
}

/** The records of groups; the others have no texts that may be unset. */
const records: Partial<Record<SettingGroup, RecordName>> = {
  general: 'SettingsGeneral',
  branding: 'SettingsBranding'
}

function openRoutes(group: SettingGroup | null): ApiRoute[] {
  const path = `/api/admin/settings${group === null ? '' : `/${group}`}`
  const suffix =
    group === null ? '' : group.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
  const about = group === null ? 'All settings' : `The settings of the group ${group}`
  const record = group === null ? 'Settings' : records[group]
  const fields = writableOf(group)
  const validator = changesValidator(fields)
  const readOnly = {
    ...(group === null ? computed : {}),
    ...Object.fromEntries(fixedOf(group).map(([name, { schema }]) => [name, schema]))
  }
  return [
    apiRoute('GET', path, access, {
      id: `getSettings${suffix}`,
      tag,
      summary: about,
      ...(record && { responseRecord: record }),
      response: group === null ? settingsSchema : schemaOf(group),
      handle: async (_, services) =>
        jsonReply(await render(group, await ensureInstallationSettings(services.sql), services))
    }),
    actionRoute('PUT', path, access, {
      id: `editSettings${suffix}`,
      tag,
      summary: `${about}: change those that the program can change while it runs`,
      ...(record && { bodyRecord: record }),
      body: bodySchema(fields, { isPartial: true, readOnly }),
      prepare(request, services) {
        const values: Partial<InstallationSettings> = parseBody(validator, request.body)
        assertNoFieldErrors([
          ...findFixedProblems(group, request.body, services),
          ...findRetentionProblems(values)
        ])
        return async tx => {
          let changes: AuditedChanges = {}
          await changeInstallationSettings(tx, before => {
            const shown = withRetention(before, services)
            const entries = Object.entries(values).filter(
              ([name, value]) => Reflect.get(shown, name) !== value
            )
            const names = entries.map(([name]) => name)
            changes = toAuditedChanges(fields, { ...shown }, { ...values }, names)
            return Object.fromEntries(entries)
          })
          const isChanged = Object.keys(changes).length > 0
          return {
            audit: isChanged ? [{ record: 'Settings', id: 'installation', changes }] : [],
            reply() {
              services.settings.forget()
              return actionReply('Record updated successfully.')
            }
          }
        }
      }
    })
  ]
}

export const settingsRoutes = [null, ...settingGroups].flatMap(openRoutes)
