import { integerField } from '../../model/fields/field.ts'
import { bodySchema, bodyValidator } from '../../model/fields/validators.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError, refuseField } from '../../platform/runtime/errors.ts'
import type { Tx } from '../../stores/db/sql.ts'
import { actionRoute } from '../core/actions.ts'
import { maxUnixSecond } from '../core/moments.ts'
import { parseBody, parsePathId } from '../core/parse.ts'
import { actionResultFields, actionReply, type ApiRequest, jsonReply } from '../core/route.ts'
import { actionResultSchema, int64, namedSchema } from '../core/schemas.ts'
import {
  webhookAccess,
  type WebhookRow,
  lockWebhook,
  webhookPath,
  assertWebhookCanSend,
  webhookTag
} from './webhook-row.ts'

const maxDeliveries = 1_000

/** A `merged` delivery was sent as part of another one, so it is not sent again by itself. */
const redeliverableStates = ['delivered', 'failed', 'expired', 'superseded', 'cancelled']

const redeliver = actionRoute('POST', `${webhookPath}/delivery/:delivery_id/redeliver`, webhookAccess, {
  id: 'redeliverWebhookDelivery',
  tag: webhookTag,
  summary: 'Send a delivery again, with its id and content',
  prepare(request, services) {
    const id = parsePathId(request.params['delivery_id'])
    return async tx => {
      const locked = await lockEnabledHook(tx, request)
      const [found] = await tx<{ state: string }[]>`
      select state from webhook_deliveries where id = ${id} and webhook_id = ${locked.id} for update`
      if (!found) throw new ApiError('not-found')
      if (found.state === 'pending')
        throw new ApiError('conflict', 'The delivery is pending and will be sent.')
      await markPending(tx, [id])
      return {
        audit: [{ record: 'WebhookDelivery', id, name: locked.name }],
        async reply() {
          await services.dispatchDeliveries([locked.id])
          return actionReply('The message is sent again.')
        }
      }
    }
  }
})

const fields = {
  since: integerField({
    min: 0,
    max: maxUnixSecond,
    about: 'First event, in Unix seconds.',
    example: 1_783_468_800
  }),
  until: integerField({
    min: 0,
    max: maxUnixSecond,
    fallback: maxUnixSecond,
    about: 'Last event, in Unix seconds; default now.'
  })
}
const redeliverRangeValidator = bodyValidator(fields)

const redeliveredSchema = namedSchema(
  'Redelivered',
  'How many messages are sent again.',
  actionResultSchema({
    redelivered: { ...int64, description: 'Number of messages sent again.' }
  })
)

const redeliverRange = actionRoute('POST', `${webhookPath}/redeliver`, webhookAccess, {
  id: 'redeliverWebhook',
  tag: webhookTag,
  summary: `Send again the deliveries of a period, at most ${maxDeliveries}; merged ones are not sent again`,
  body: bodySchema(fields),
  response: redeliveredSchema,
  prepare(request, services) {
    const { since, until } = parseBody(redeliverRangeValidator, request.body)
    if (until < since) refuseField('until', 'out_of_range', 'must not be before since.')
    return async tx => {
      const locked = await lockEnabledHook(tx, request)
      const found = await tx<{ id: number }[]>`
      select id from webhook_deliveries
      where (webhook_id, happened_at_ms) >= (${locked.id}, ${since * 1000}::bigint)
        and (webhook_id, happened_at_ms) < (${locked.id}, ${(until + 1) * 1000}::bigint)
        and state = any(${redeliverableStates}::text[])
      order by webhook_id, happened_at_ms, id limit ${maxDeliveries + 1} for update`
      if (found.length > maxDeliveries)
        refuseField('since', 'limit_reached', `spans more than ${maxDeliveries} deliveries.`)
      await markPending(
        tx,
        found.map(({ id }) => id)
      )
      const count = found.length
      const message = count === 1 ? '1 message is sent again.' : `${count} messages are sent again.`
      return {
        audit: count > 0 ? [{ record: 'WebhookDelivery', id: '*', name: locked.name }] : [],
        async reply() {
          if (count > 0) await services.dispatchDeliveries([locked.id])
          return jsonReply({ ...actionResultFields(message), redelivered: count })
        }
      }
    }
  }
})

/** Locks the hook in the path. Throws 400 if it delivers no events. */
async function lockEnabledHook(tx: Tx, request: ApiRequest): Promise<WebhookRow> {
  const hook = await lockWebhook(tx, request)
  assertWebhookCanSend(hook)
  if (!hook.isEnabled) throw new ApiError('invalid', 'The web hook is disabled.')
  return hook
}

async function markPending(tx: Tx, ids: number[]): Promise<void> {
  await tx`
    update webhook_deliveries
    set state = 'pending', is_again = true, attempts = 0, next_attempt_ms = ${engineTimeMs()}, ended_at_ms = null
    where id = any(${ids}::bigint[])`
}

export const webhookRedeliverRoutes = [redeliver, redeliverRange]
