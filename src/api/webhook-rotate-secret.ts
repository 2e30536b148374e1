import { beginForStation } from '../db/station-transaction.ts'
import { ApiError } from '../errors.ts'
import { engineTimeMs } from '../runtime/engine-time.ts'
import { withMade } from '../webhooks/config.ts'
import { keepFormerSecret } from '../webhooks/former-secret.ts'
import { hookTypeOf } from '../webhooks/hook-types.ts'
import { recordAudit } from './audit.ts'
import { type ApiRoute, json, stationOf } from './route.ts'
import { exactly } from './schemas.ts'
import { lockHook } from './webhook-row.ts'

const key = 'signing_secret'

/** The schema of what is answered. */
export const rotatedSecretSchema = exactly({
  success: { type: 'boolean' },
  message: { type: 'string' },
  formatted_message: { type: 'string', description: 'HTML' },
  signing_secret: { type: 'string', description: 'The new secret; it is shown here only.' },
  former_until: {
    type: 'integer',
    format: 'int64',
    description: 'Unix seconds until which the former secret signs too; 0: there was none.'
  }
})

const message = 'The signing secret was replaced.'

const rotate: ApiRoute = {
  method: 'POST',
  path: '/api/station/:station_id/webhook/:id/rotate-secret',
  access: 'manage station web hooks',
  operation: {
    id: 'rotateWebhookSecret',
    tag: 'Web hooks',
    summary:
      'Replace the signing secret of a generic web hook; the former one, but none before it, signs too for a day',
    answer: { $ref: '#/components/schemas/RotatedSecret' }
  },
  async handle(request, { sql, secrets }) {
    return beginForStation(sql, stationOf(request).id, async tx => {
      const hook = await lockHook(tx, request)
      const { id } = hook
      const type = hookTypeOf(hook.type)
      if (!Object.hasOwn(type.made, key))
        throw new ApiError('invalid', `Web hooks of the type ${type.name} do not sign what they send.`)
      const { config, made } = withMade(
        type,
        hook.config.filter(each => each.key !== key),
        secrets
      )
      await tx`update webhooks set config = ${tx.json(config.map(each => ({ ...each })))} where id = ${id}`
      const change = { before: hook.config, after: config, nowMs: engineTimeMs() }
      const untilMs = await keepFormerSecret(tx, secrets, { id, type }, change)
      await recordAudit(tx, request, { record: 'Webhook', id, fields: ['config'] })
      return json({
        success: true,
        message,
        formatted_message: message,
        signing_secret: made.find(each => each.key === key)?.value,
        former_until: Math.floor(untilMs / 1000)
      })
    })
  }
}

export const webhookRotateSecretRoutes = [rotate]
