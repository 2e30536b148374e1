import { changeStation } from '../../engine/change-station.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import { beginForStation } from '../../stores/db/begin-for-station.ts'
import { findMissingConfig, keepFormerSecret } from '../../webhooks/config-change.ts'
import { addGenerated, isSecret, redactConfig } from '../../webhooks/config.ts'
import { cancelDeliveries } from '../../webhooks/deliveries/deliveries.ts'
import { hookTypeOf } from '../../webhooks/types/hook-types.ts'
import { assertNoProblems } from '../core/accept.ts'
import { recordAudit } from '../core/audit.ts'
import { changed } from '../core/audited-changes.ts'
import { openReads } from '../core/resource-reads.ts'
import { recordSchema } from '../core/resource-routes.ts'
import { actionFields, actionReply, apiRoute, json, stationOf } from '../core/route.ts'
import { actionSchema, int64, named, ref } from '../core/schemas.ts'
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

const toggle = apiRoute('PUT', `${path}/toggle`, access, {
  id: 'toggleWebhook',
  tag,
  summary: 'Enable a web hook and reset its failures, or disable it and cancel pending deliveries',
  answer: ref('ActionResult'),
  async handle(request, services) {
    const wasEnabled = await changeStation(services, stationOf(request).id, async change => {
      const { tx } = change
      const { id, type, config, isEnabled, triggers } = await lockHook(tx, request)
      if (!isEnabled) assertNoProblems(findMissingConfig(hookTypeOf(type), config))
      await tx`update webhooks set is_enabled = ${!isEnabled} where id = ${id}`
      if (isEnabled) await cancelDeliveries(tx, id, engineTimeMs())
      else await resetHookFailures(tx, id)
      await recordAudit(tx, request, { record: 'Webhook', id, changes: changed('is_enabled') })
      if (hasListenerTriggers({ is_enabled: true, triggers })) markListenerHooks(change)
      return isEnabled
    })
    return actionReply(wasEnabled ? 'Web hook disabled.' : 'Web hook enabled.')
  }
})

const reads = openReads(webhooks, webhookHooks)

const copySuffix = ' (Copy)'
const maxNameLength = 100

const clone = apiRoute('POST', `${path}/clone`, access, {
  id: 'cloneWebhook',
  tag,
  summary: 'Copy a web hook without its secrets; the copy is disabled',
  answerRecord: webhooks.name,
  answer: recordSchema(webhooks),
  status: 201,
  async handle(request, services) {
    const { sql, secrets } = services
    const station = stationOf(request)
    const copy = await beginForStation(sql, station.id, async tx => {
      const hook = await readHook(tx, request)
      const type = hookTypeOf(hook.type)
      const kept = hook.config.filter(({ key }) => !isSecret(type, key))
      const { config, generated: made } = addGenerated(type, kept, secrets)
      const name = Array.from(hook.name).slice(0, maxNameLength - copySuffix.length)
      const row = {
        station_id: station.id,
        name: name.join('') + copySuffix,
        type: hook.type,
        is_enabled: false,
        triggers: tx.json([...hook.triggers]),
        config: tx.json(config.map(each => ({ ...each })))
      }
      const [inserted] = await tx<{ id: number }[]>`insert into webhooks ${tx(row)} returning id`
      if (!inserted) throw new Error('insert gave no row')
      const fields = ['name', 'type', 'is_enabled', 'triggers', 'config']
      await recordAudit(tx, request, { record: 'Webhook', id: inserted.id, changes: changed(...fields) })
      return { id: inserted.id, made, shown: redactConfig(type, kept, true) }
    })
    const record = await reads.read(services, request, station, copy.id)
    const reveal = copy.made.length > 0 ? { config: [...copy.shown, ...copy.made] } : {}
    return { status: 201, value: { ...record, ...reveal } }
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

const rotate = apiRoute('POST', `${path}/rotate-secret`, access, {
  id: 'rotateWebhookSecret',
  tag,
  summary: 'Replace the signing secret of a generic web hook; the former secret signs too for a day',
  answer: rotatedSecretSchema,
  async handle(request, { sql, secrets }) {
    return beginForStation(sql, stationOf(request).id, async tx => {
      const hook = await lockHook(tx, request)
      const { id } = hook
      const type = hookTypeOf(hook.type)
      if (!Object.hasOwn(type.made, key))
        throw new ApiError('invalid', `Web hooks of the type ${type.name} do not sign what they send.`)
      const otherSettings = hook.config.filter(each => each.key !== key)
      const { config, generated: made } = addGenerated(type, otherSettings, secrets)
      await tx`update webhooks set config = ${tx.json(config.map(each => ({ ...each })))} where id = ${id}`
      const change = { before: hook.config, after: config, nowMs: engineTimeMs() }
      const untilMs = await keepFormerSecret(tx, secrets, { id, type }, change)
      await recordAudit(tx, request, { record: 'Webhook', id, changes: changed('config') })
      return json({
        ...actionFields('The signing secret was replaced.'),
        signing_secret: made.find(each => each.key === key)?.value,
        former_until: Math.floor(untilMs / 1000)
      })
    })
  }
})

export const webhookActionRoutes = [toggle, clone, rotate]
