import * as v from 'valibot'

import {
  choiceField,
  fixedField,
  flagField,
  readOnlyField,
  listField,
  formatCheckMessage,
  textField,
  unauditedField
} from '../../model/fields/field.ts'
import { namedChangesField, type NamedValue, namedValueSchema } from '../../model/fields/named-values.ts'
import { type Trigger, triggerNames } from '../../model/station/triggers.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { fieldError, type FieldError } from '../../platform/runtime/errors.ts'
import { resolveAlert } from '../../stores/db/notifications.ts'
import { cancelDeliveries, hookDisabledAlertKey } from '../../webhooks/deliveries/deliveries.ts'
import {
  mergeHookConfig,
  findMissingHookSettings,
  keepFormerSigningSecret,
  findSecretsAtRisk
} from '../../webhooks/hook-config-change.ts'
import {
  addGeneratedSettings,
  type HookConfig,
  isDraftConfig,
  isRedactedAddress,
  redactHookConfig
} from '../../webhooks/hook-config.ts'
import type { HookType } from '../../webhooks/types/hook-type.ts'
import {
  describeHookSettings,
  describeHookTypes,
  hookTypeNames,
  getHookType
} from '../../webhooks/types/hook-types.ts'
import { maySeeUnredactedUrls } from '../auth/access.ts'
import { resourceRoutes } from '../core/resource-routes.ts'
import {
  type ResourceWriteRequest,
  defineResource,
  type ResourceHooks,
  type StoredRecord
} from '../core/resource.ts'
import { findTargetUrlProblems } from '../core/url-checks.ts'
import { hasListenerTriggers, markStationForListenerHooks, resetWebhookFailures } from './webhook-row.ts'

const configField = unauditedField(
  namedChangesField({
    max: 50,
    about: `Settings of its type; a web hook without settings is a draft. ${describeHookSettings()}`,
    example: [{ key: 'webhook_url', value: 'https://example.com/hooks/radio' }]
  })
)

/** The web hooks of a station, called on events. */
export const webhooksResource = defineResource({
  name: 'Webhook',
  title: 'web hook',
  tag: 'Web hooks',
  table: 'webhooks',
  paths: { list: '/api/station/:station_id/webhooks', one: '/api/station/:station_id/webhook/:id' },
  access: { read: 'manage station web hooks', write: 'manage station web hooks' },
  fields: {
    name: textField({
      max: 100,
      fallback: '',
      isTrimmed: true,
      about: 'Shown to operators.',
      example: 'Chat'
    }),
    type: fixedField(choiceField(hookTypeNames, { about: 'The receiving service; fixed after creation.' })),
    is_enabled: flagField({ fallback: true, about: 'Whether events are delivered.' }),
    triggers: listField<Trigger>(
      v.pipe(
        v.string(formatCheckMessage('invalid_type', 'must be text.')),
        v.picklist(
          triggerNames,
          formatCheckMessage('not_in_enum', `must be one of ${triggerNames.join(', ')}.`)
        )
      ),
      {
        max: 50,
        items: { type: 'string', enum: triggerNames },
        about: 'The events to deliver; empty: all events that its type allows.'
      }
    ),
    config: { ...configField, accepts: { ...configField.accepts, 'x-types': describeHookTypes() } },
    metadata: readOnlyField<NamedValue[]>({
      schema: { type: 'array', items: namedValueSchema },
      about: 'state (active, draft, retired or auto_disabled), and the results of deliveries.'
    })
  },
  label: 'name',
  search: ['name'],
  sort: ['id', 'name', 'type'],
  order: 'name',
  publishes: 'marked parts'
})

type HookFields = typeof webhooksResource.fields

export const webhookResourceHooks: ResourceHooks<HookFields> = {
  validate: checkUrls,
  beforeWrite(write) {
    if (write.values === null) return []
    const { services, before, values, sent, reveal } = write
    const type = getHookType(before?.type ?? values.type)
    const problems = sent.has('triggers') ? findUnsupportedTriggers(type, values.triggers) : []
    if (sent.has('triggers')) values.triggers = [...new Set(values.triggers)]
    const stored = before ? storedConfig(before) : []
    if (!sent.has('config')) {
      const isSwitchedOn = before?.is_enabled === false && values.is_enabled
      return isSwitchedOn ? [...problems, ...findMissingHookSettings(type, stored)] : problems
    }
    const { secrets } = services
    const leftBehind = findSecretsAtRisk(type, values.config, stored, secrets)
    const settled = mergeHookConfig(type, values.config, stored, secrets)
    values.config = settled.config
    if (!before) {
      const { config, generated } = addGeneratedSettings(type, settled.config, secrets)
      values.config = config
      if (generated.length > 0)
        reveal['config'] = [...redactHookConfig(type, settled.config, true), ...generated]
    }
    return [...problems, ...leftBehind, ...settled.problems]
  },
  async afterWrite({ tx, change, services, before, values }, id) {
    if (change && hasListenerTriggers(before) !== hasListenerTriggers(values))
      markStationForListenerHooks(change)
    if (values === null) await resolveAlert(tx, hookDisabledAlertKey(before.id))
    if (values === null || !before) return
    const type = getHookType(before.type)
    const nowMs = engineTimeMs()
    if (!values.is_enabled || isDraftConfig(type, values.config)) await cancelDeliveries(tx, id, nowMs)
    if (!before.is_enabled && values.is_enabled) await resetWebhookFailures(tx, id)
    const configs = { before: storedConfig(before), after: storedConfig(values), nowMs }
    await keepFormerSigningSecret(tx, services.secrets, { id, type }, configs)
  },
  async render(rows, { sql, caller, station }) {
    const showsPath = maySeeUnredactedUrls(
      caller?.key ?? null,
      webhooksResource.access.write,
      station?.id ?? 0
    )
    const ids = rows.map(({ id }) => id)
    const found = await sql<({ id: number } & typeof noDeliveries)[]>`
      select id, is_auto_disabled as "isAutoDisabled", last_message_sent, last_status, consecutive_failures,
        (select count(*) from webhook_deliveries d where d.webhook_id = w.id and d.state = 'pending') as pending
      from webhooks w where id = any(${ids}::bigint[])`
    const deliveries = new Map(found.map(({ id, ...row }) => [id, row]))
    return rows.map(row => {
      const { isAutoDisabled, ...counts } = deliveries.get(row.id) ?? noDeliveries
      const metadata = { state: hookState(row, isAutoDisabled), ...counts }
      return {
        config: redactHookConfig(getHookType(row.type), storedConfig(row), showsPath),
        metadata: Object.entries(metadata).map(([key, value]) => ({ key, value }))
      }
    })
  }
}

type HookRecord = StoredRecord<HookFields>

/** `last_message_sent` is in Unix seconds, `last_status` the HTTP status of the last attempt. */
const noDeliveries = {
  isAutoDisabled: false,
  last_message_sent: 0,
  last_status: 0,
  consecutive_failures: 0,
  pending: 0
}

/** An `active` hook is complete; whether it delivers depends on `is_enabled`. */
function hookState({ type, config, is_enabled }: HookRecord, isAutoDisabled: boolean): string {
  if (getHookType(type).isRetired) return 'retired'
  if (isAutoDisabled && !is_enabled) return 'auto_disabled'
  return isDraftConfig(getHookType(type), config) ? 'draft' : 'active'
}

/** Null only occurs in requests, not in stored configs. */
function storedConfig({ config }: Pick<HookRecord, 'config'>): HookConfig {
  return config.flatMap(({ key, value }) => (value === null ? [] : [{ key, value }]))
}

function findUnsupportedTriggers(type: HookType, requested: readonly Trigger[]): FieldError[] {
  return requested.flatMap((trigger, index) => {
    if (type.triggers.includes(trigger)) return []
    const sentence = `is not allowed: the type ${type.name} supports only ${type.triggers.join(', ')}.`
    return [fieldError(`triggers.${index}`, 'not_allowed_for_type', sentence)]
  })
}

/** Checks the targets of new or changed URLs of a config. */
async function checkUrls({
  services,
  station,
  id,
  values
}: ResourceWriteRequest<HookFields>): Promise<FieldError[]> {
  if (!values.config?.length) return []
  const [stored] = await services.reads<{ type: string; config: HookConfig }[]>`
    select type, config from webhooks where id = ${id} and station_id = ${station?.id ?? null}`
  const typeName = stored?.type ?? values.type
  if (typeName === undefined) return []
  const before = new Map(stored?.config.map(({ key, value }) => [key, value]))
  const type = getHookType(typeName)
  const targets = values.config.filter(
    each =>
      type.urls.includes(each.key) &&
      each.value !== before.get(each.key) &&
      !isRedactedAddress(type, each, stored?.config ?? [])
  )
  return findTargetUrlProblems(
    services,
    targets.map(({ key, value }) => ({ field: `config.${key}`, url: String(value) }))
  )
}

export const webhookRoutes = resourceRoutes(webhooksResource, webhookResourceHooks)
