import { choiceField } from '../../model/fields/field.ts'
import { triggerNames } from '../../model/station/triggers.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import type { Fragment, Sql } from '../../stores/db/sql.ts'
import { redactAddress } from '../../webhooks/redact.ts'
import { getHookType } from '../../webhooks/types/hook-types.ts'
import { maySeeUnredactedUrls } from '../auth/access.ts'
import { listRoute } from '../core/list-route.ts'
import { containsTextFragment, newestRowsLimitFragment } from '../core/list.ts'
import { openQueryFilters, parsePathId } from '../core/parse.ts'
import { type ApiRequest, apiRoute, jsonReply } from '../core/route.ts'
import { arrayOf, exactObject, int64, namedSchema, string } from '../core/schemas.ts'
import { webhookAccess, type WebhookRow, webhookPath, readWebhook, webhookTag } from './webhook-row.ts'

const states = ['pending', 'delivered', 'failed', 'merged', 'superseded', 'expired', 'cancelled'] as const

const maxAttempts = 200

/** The last attempt of a delivery, or a row of its log. */
interface AttemptRow {
  readonly attempted_at: number
  readonly duration_ms: number
  readonly status: number
  readonly error: string
  readonly url: string
  readonly response: string
}

interface DeliveryRow extends AttemptRow {
  readonly id: number
  readonly message_id: string
  readonly happened_at: number
  readonly triggers: readonly string[]
  readonly state: string
  readonly attempts: number
  readonly next_attempt: number
}

const attempt = {
  attempted_at: { ...int64, description: 'Unix seconds of the attempt; 0: no attempt.' },
  duration_ms: int64,
  status: { ...int64, description: 'The HTTP or SMTP status; 0: no response.' },
  error: {
    ...string,
    description: 'Why it was not delivered: timeout, dns, tls, refused, blocked, http, ...',
    examples: ['timeout']
  },
  url: { ...string, description: 'The URL without query and secrets.' },
  response: { ...string, description: 'The start of the response, without secrets.' }
}
const delivery = {
  id: int64,
  message_id: { ...string, description: 'The header webhook-id, the same for each attempt.' },
  happened_at: { ...int64, description: 'Unix seconds of the event.' },
  triggers: arrayOf({ ...string, enum: triggerNames }),
  state: {
    ...string,
    enum: states,
    description:
      'merged: sent with a newer one (rate_limit); superseded: replaced by a newer one; expired: no longer current.'
  },
  attempts: { ...int64, description: 'Number of attempts since the last redelivery.' },
  ...attempt,
  next_attempt: { ...int64, description: 'Unix seconds; 0: no further attempt.' }
}

/** A delivery in a list, with its last attempt. */
const deliverySchema = namedSchema('WebhookDelivery', 'A message to a web hook.', exactObject(delivery))

/** A delivery with all its attempts. */
const deliveryLogSchema = namedSchema(
  'WebhookDeliveryLog',
  'A message to a web hook, with all its attempts.',
  exactObject({
    ...delivery,
    log: {
      ...arrayOf(exactObject({ attempt: int64, ...attempt })),
      description: `The last ${maxAttempts} attempts, oldest first.`
    }
  })
)

const filter = openQueryFilters({ status: choiceField(states, { about: 'Only deliveries in this state.' }) })

const list = listRoute(`${webhookPath}/deliveries`, webhookAccess, {
  id: 'listWebhookDeliveries',
  tag: webhookTag,
  summary: 'The deliveries of a web hook and their results, newest first',
  filters: filter.schemas,
  record: deliverySchema,
  async open(query, request, { reads: sql }) {
    const { status } = filter.parse(request.query)
    const hook = await readWebhook(sql, request)
    // The bounds and order match an index that starts with the hook: see "walks an index of all stations" in
    // docs/gotchas.md.
    const [key, values] =
      status === undefined
        ? [sql`webhook_id`, sql`${hook.id}::bigint`]
        : [sql`webhook_id, state`, sql`${hook.id}::bigint, ${status}::text`]
    const newest = sql`
      select * from webhook_deliveries where (${key}) >= (${values}) and (${key}) <= (${values})
      order by ${key}, id desc ${newestRowsLimitFragment(sql)}`
    const deliveries = sql`
      select d.* from (${newest}) d
      ${query.search === '' ? sql`` : sql`where d.message_id ${containsTextFragment(sql, query.search)}`}`
    return {
      select: deliveries,
      expand: page => withLastAttempts(sql, page),
      matching: deliveries,
      render: (rows: readonly DeliveryRow[]) => rows.map(row => redactAttempt(row, request, hook))
    }
  }
})

const read = apiRoute('GET', `${webhookPath}/delivery/:delivery_id`, webhookAccess, {
  id: 'getWebhookDelivery',
  tag: webhookTag,
  summary: 'Read a delivery of a web hook with all its attempts',
  response: deliveryLogSchema,
  async handle(request, { reads: sql }) {
    const hook = await readWebhook(sql, request)
    const id = parsePathId(request.params['delivery_id'])
    const stored = sql`select * from webhook_deliveries where webhook_id = ${hook.id} and id = ${id}`
    const [[found], log] = await Promise.all([
      sql<DeliveryRow[]>`${withLastAttempts(sql, stored)}`,
      sql<(AttemptRow & { readonly attempt: number })[]>`
        select attempt, started_at_ms / 1000 as attempted_at, duration_ms, status, error, url, response
        from webhook_attempts where delivery_id = ${id} order by id desc limit ${maxAttempts}`
    ])
    if (!found) throw new ApiError('not-found')
    const attempts = log.map(each => redactAttempt(each, request, hook))
    return jsonReply({ ...redactAttempt(found, request, hook), log: attempts.toReversed() })
  }
})

/** Redacts the URL for callers without access: its path may contain a token. */
function redactAttempt<Row extends AttemptRow>(
  attempted: Row,
  { caller }: ApiRequest,
  hook: WebhookRow
): Row {
  const { url } = attempted
  const isPublic = getHookType(hook.type).urls.length === 0 || url === '' || url === 'mailto:'
  const [key, stationId] = [caller?.key ?? null, caller?.station?.id ?? 0]
  if (isPublic || maySeeUnredactedUrls(key, webhookAccess, stationId)) return attempted
  return { ...attempted, url: redactAddress(url, false) }
}

/** Deliveries with their last attempts, newest first, with columns in the order of the API fields. */
function withLastAttempts(sql: Sql, deliveries: Fragment): Fragment {
  return sql`
    select d.id, d.message_id, d.happened_at_ms / 1000 as happened_at, d.triggers, d.state, d.attempts,
      coalesce(a.started_at_ms / 1000, 0) as attempted_at, coalesce(a.duration_ms, 0) as duration_ms,
      coalesce(a.status, 0) as status, coalesce(a.error, '') as error, coalesce(a.url, '') as url,
      coalesce(a.response, '') as response, coalesce(d.next_attempt_ms / 1000, 0) as next_attempt
    from (${deliveries}) d left join lateral (
      select * from webhook_attempts where delivery_id = d.id order by id desc limit 1) a on true
    order by d.id desc`
}

export const webhookDeliveryRoutes = [list, read]
