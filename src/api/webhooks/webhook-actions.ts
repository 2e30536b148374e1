import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError, assertNoFieldErrors } from '../../platform/runtime/errors.ts'
import { cancelDeliveries } from '../../webhooks/deliveries/deliveries.ts'
import { findMissingHookSettings, keepFormerSigningSecret } from '../../webhooks/hook-config-change.ts'
import { addGeneratedSettings, isSecretSetting, redactHookConfig } from '../../webhooks/hook-config.ts'
import { getHookType } from '../../webhooks/types/hook-types.ts'
import { actionRoute, stationActionRoute } from '../core/actions.ts'
import { toAuditedChanges, changedWithoutValues } from '../core/audit.ts'
import { openResourceReads } from '../core/resource-reads.ts'
import { resourceRecordSchema } from '../core/resource-routes.ts'
import { actionResultFields, actionReply, jsonReply, getRequestStation } from '../core/route.ts'
import { actionResultSchema, int64, namedSchema } from '../core/schemas.ts'
import {
  webhookAccess,
  hasListenerTriggers,
  lockWebhook,
  markStationForListenerHooks,
  webhookPath,
  readWebhook,
  resetWebhookFailures,
  webhookTag
} from './webhook-row.ts'
import { webhookResourceHooks, webhooksResource } from './webhooks.ts'

const toggle = stationActionRoute('PUT', `${webhookPath}/toggle`, webhookAccess, {
  id: 'toggleWebhook',
  tag: webhookTag,
  summary: 'Enable a web hook and reset its failures, or disable it and cancel pending deliveries',
  prepare: request => async change => {
    const { tx } = change
    const { id, name, type, config, isEnabled, triggers } = await lockWebhook(tx, request)
    if (!isEnabled) assertNoFieldErrors(findMissingHookSettings(getHookType(type), config))
    await tx`update webhooks set is_enabled = ${!isEnabled} where id = ${id}`
    if (isEnabled) await cancelDeliveries(tx, id, engineTimeMs())
    else await resetWebhookFailures(tx, id)
    if (hasListenerTriggers({ is_enabled: true, triggers })) markStationForListenerHooks(change)
    const changes = { is_enabled: { from: isEnabled, to: !isEnabled } }
    return {
      audit: [{ record: 'Webhook', id, name, changes }],
      reply: actionReply(isEnabled ? 'Web hook disabled.' : 'Web hook enabled.')
    }
  }
})

const reads = openResourceReads(webhooksResource, webhookResourceHooks)

const copySuffix = ' (Copy)'
const maxNameLength = 100

const clone = actionRoute('POST', `${webhookPath}/clone`, webhookAccess, {
  id: 'cloneWebhook',
  tag: webhookTag,
  summary: 'Copy a web hook without its secrets; the copy is disabled',
  responseRecord: webhooksResource.name,
  response: resourceRecordSchema(webhooksResource),
  status: 201,
  prepare(request, services) {
    const { secrets } = services
    const station = getRequestStation(request)
    return async tx => {
      const hook = await readWebhook(tx, request)
      const type = getHookType(hook.type)
      const kept = hook.config.filter(({ key }) => !isSecretSetting(type, key))
      const { config, generated: made } = addGeneratedSettings(type, kept, secrets)
      const start = Array.from(hook.name).slice(0, maxNameLength - copySuffix.length)
      const name = start.join('') + copySuffix
      const row = {
        station_id: station.id,
        name,
        type: hook.type,
        is_enabled: false,
        triggers: tx.json([...hook.triggers]),
        config: tx.json(config.map(each => ({ ...each })))
      }
      const [inserted] = await tx<{ id: number }[]>`insert into webhooks ${tx(row)} returning id`
      if (!inserted) throw new Error('insert gave no row')
      const { id } = inserted
      const values = { ...row, triggers: hook.triggers, config }
      const names = ['name', 'type', 'is_enabled', 'triggers', 'config']
      const reveal = made.length > 0 ? { config: [...redactHookConfig(type, kept, true), ...made] } : {}
      return {
        audit: [
          {
            record: 'Webhook',
            id,
            name,
            changes: toAuditedChanges(webhooksResource.fields, null, values, names)
          }
        ],
        async reply() {
          const record = await reads.read(services, request, station, id)
          return { status: 201, value: { ...record, ...reveal } }
        }
      }
    }
  }
})

const key = 'signing_secret'

const rotatedSecretSchema = namedSchema(
  'RotatedSecret',
  'The new signing secret of a web hook.',
  actionResultSchema({
    signing_secret: { type: 'string', description: 'The new secret. It is not shown again.' },
    former_until: {
      ...int64,
      description: 'Unix seconds until which the former secret signs too; 0: no former secret.'
    }
  })
)

const rotate = actionRoute('POST', `${webhookPath}/rotate-secret`, webhookAccess, {
  id: 'rotateWebhookSecret',
  tag: webhookTag,
  summary: 'Replace the signing secret of a generic web hook; the former secret signs too for a day',
  response: rotatedSecretSchema,
  prepare:
    (request, { secrets }) =>
    async tx => {
      const hook = await lockWebhook(tx, request)
      const { id } = hook
      const type = getHookType(hook.type)
      if (!Object.hasOwn(type.made, key))
        throw new ApiError('invalid', `Web hooks of the type ${type.name} do not sign what they send.`)
      const otherSettings = hook.config.filter(each => each.key !== key)
      const { config, generated: made } = addGeneratedSettings(type, otherSettings, secrets)
      await tx`update webhooks set config = ${tx.json(config.map(each => ({ ...each })))} where id = ${id}`
      const change = { before: hook.config, after: config, nowMs: engineTimeMs() }
      const untilMs = await keepFormerSigningSecret(tx, secrets, { id, type }, change)
      return {
        audit: [{ record: 'Webhook', id, name: hook.name, changes: changedWithoutValues('config') }],
        reply: jsonReply({
          ...actionResultFields('The signing secret was replaced.'),
          signing_secret: made.find(each => each.key === key)?.value,
          former_until: Math.floor(untilMs / 1000)
        })
      }
    }
})

export const webhookActionRoutes = [toggle, clone, rotate]
