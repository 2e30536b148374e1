import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError, assertNoProblems } from '../../platform/runtime/errors.ts'
import { findMissingConfig, keepFormerSecret } from '../../webhooks/config-change.ts'
import { addGenerated, isSecret, redactConfig } from '../../webhooks/config.ts'
import { cancelDeliveries } from '../../webhooks/deliveries/deliveries.ts'
import { getHookType } from '../../webhooks/types/hook-types.ts'
import { actionRoute, stationActionRoute } from '../core/actions.ts'
import { auditChanges, changed } from '../core/audit.ts'
import { openReads } from '../core/resource-reads.ts'
import { recordSchema } from '../core/resource-routes.ts'
import { actionFields, actionReply, json, getStation } from '../core/route.ts'
import { actionSchema, int64, named } from '../core/schemas.ts'
import {
  access,
  hasListenerTriggers,
  lockHook,
  markListenerHooks,
  path,
  readHook,
  resetHookFailures,
  tag
} from './webhook-row.ts'
import { webhookHooks, webhooks } from './webhooks.ts'

const toggle = stationActionRoute('PUT', `${path}/toggle`, access, {
  id: 'toggleWebhook',
  tag,
  summary: 'Enable a web hook and reset its failures, or disable it and cancel pending deliveries',
  prepare: request => async change => {
    const { tx } = change
    const { id, name, type, config, isEnabled, triggers } = await lockHook(tx, request)
    if (!isEnabled) assertNoProblems(findMissingConfig(getHookType(type), config))
    await tx`update webhooks set is_enabled = ${!isEnabled} where id = ${id}`
    if (isEnabled) await cancelDeliveries(tx, id, engineTimeMs())
    else await resetHookFailures(tx, id)
    if (hasListenerTriggers({ is_enabled: true, triggers })) markListenerHooks(change)
    const changes = { is_enabled: { from: isEnabled, to: !isEnabled } }
    return {
      audit: [{ record: 'Webhook', id, name, changes }],
      reply: actionReply(isEnabled ? 'Web hook disabled.' : 'Web hook enabled.')
    }
  }
})

const reads = openReads(webhooks, webhookHooks)

const copySuffix = ' (Copy)'
const maxNameLength = 100

const clone = actionRoute('POST', `${path}/clone`, access, {
  id: 'cloneWebhook',
  tag,
  summary: 'Copy a web hook without its secrets; the copy is disabled',
  responseRecord: webhooks.name,
  response: recordSchema(webhooks),
  status: 201,
  prepare(request, services) {
    const { secrets } = services
    const station = getStation(request)
    return async tx => {
      const hook = await readHook(tx, request)
      const type = getHookType(hook.type)
      const kept = hook.config.filter(({ key }) => !isSecret(type, key))
      const { config, generated: made } = addGenerated(type, kept, secrets)
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
      const reveal = made.length > 0 ? { config: [...redactConfig(type, kept, true), ...made] } : {}
      return {
        audit: [{ record: 'Webhook', id, name, changes: auditChanges(webhooks.fields, null, values, names) }],
        async reply() {
          const record = await reads.read(services, request, station, id)
          return { status: 201, value: { ...record, ...reveal } }
        }
      }
    }
  }
})

const key = 'signing_secret'

const rotatedSecretSchema = named(
  'RotatedSecret',
  'The new signing secret of a web hook.',
  actionSchema({
    signing_secret: { type: 'string', description: 'The new secret. It is not shown again.' },
    former_until: {
      ...int64,
      description: 'Unix seconds until which the former secret signs too; 0: no former secret.'
    }
  })
)

const rotate = actionRoute('POST', `${path}/rotate-secret`, access, {
  id: 'rotateWebhookSecret',
  tag,
  summary: 'Replace the signing secret of a generic web hook; the former secret signs too for a day',
  response: rotatedSecretSchema,
  prepare:
    (request, { secrets }) =>
    async tx => {
      const hook = await lockHook(tx, request)
      const { id } = hook
      const type = getHookType(hook.type)
      if (!Object.hasOwn(type.made, key))
        throw new ApiError('invalid', `Web hooks of the type ${type.name} do not sign what they send.`)
      const otherSettings = hook.config.filter(each => each.key !== key)
      const { config, generated: made } = addGenerated(type, otherSettings, secrets)
      await tx`update webhooks set config = ${tx.json(config.map(each => ({ ...each })))} where id = ${id}`
      const change = { before: hook.config, after: config, nowMs: engineTimeMs() }
      const untilMs = await keepFormerSecret(tx, secrets, { id, type }, change)
      return {
        audit: [{ record: 'Webhook', id, name: hook.name, changes: changed('config') }],
        reply: json({
          ...actionFields('The signing secret was replaced.'),
          signing_secret: made.find(each => each.key === key)?.value,
          former_until: Math.floor(untilMs / 1000)
        })
      }
    }
})

export const webhookActionRoutes = [toggle, clone, rotate]
