import type { Fragment, Sql } from '../../db/sql.ts'
import { choice } from '../../fields/field.ts'
import { ApiError } from '../../runtime/errors.ts'
import { type Trigger, triggers } from '../../station/triggers.ts'
import { redactedAddress } from '../../webhooks/redact.ts'
import { hookTypeOf } from '../../webhooks/types/hook-types.ts'
import { maySeeWholeAddresses } from '../auth/access.ts'
import {
  likePattern,
  listParameters,
  listReply,
  listSchema,
  newestRows,
  parseListQuery,
  readList
} from '../core/list.ts'
import { filtersOf, parseId } from '../core/parse.ts'
import { type ApiRequest, type ApiRoute, json } from '../core/route.ts'
import { exactly } from '../core/schemas.ts'
import { type HookRow, readHook } from './webhook-row.ts'

/** What became of a delivery. */
export const deliveryStates = [
  'pending',
  'delivered',
  'failed',
  'merged',
  'superseded',
  'expired',
  'cancelled'
] as const

const attemptsShown = 200

interface Attempt {
  readonly attempt: number
  readonly attempted_at: number
  readonly duration_ms: number
  readonly status: number
  readonly error: string
  readonly url: string
  readonly response: string
}

interface Delivery extends Omit<Attempt, 'attempt'> {
  readonly id: number
  readonly message_id: string
  readonly happened_at: number
  readonly triggers: readonly Trigger[]
  readonly state: (typeof deliveryStates)[number]
  readonly attempts: number
  readonly next_attempt: number
}

const whole = { type: 'integer', format: 'int64' }
const words = { type: 'string' }
const attempt = {
  attempted_at: { ...whole, description: 'Unix seconds of the attempt; 0: there was none.' },
  duration_ms: whole,
  status: { ...whole, description: 'The HTTP or SMTP status; 0: there was no answer.' },
  error: {
    ...words,
    description: 'One word for why it has not arrived: timeout, dns, tls, refused, blocked, http, ...',
    examples: ['timeout']
  },
  url: { ...words, description: 'Where it went, without query and secrets.' },
  response: { ...words, description: 'The beginning of the answer, without secrets.' }
}
const delivery = {
  id: whole,
  message_id: { ...words, description: 'The header webhook-id: the same however often it is sent.' },
  happened_at: { ...whole, description: 'Unix seconds of what it tells of.' },
  triggers: { type: 'array', items: { type: 'string', enum: triggers } },
  state: {
    ...words,
    enum: deliveryStates,
    description:
      'merged: went out with a newer one (rate_limit); superseded: gave way to newer news; expired: was no news any more.'
  },
  attempts: { ...whole, description: 'How many there were, since it was sent again if it was.' },
  ...attempt,
  next_attempt: { ...whole, description: 'Unix seconds; 0: none.' }
}

/** The schema of a delivery in a list: the last attempt is part of it. */
export const deliverySchema = exactly(delivery)

/** The schema of one delivery with all its attempts. */
export const deliveryLogSchema = exactly({
  ...delivery,
  log: {
    type: 'array',
    items: exactly({ attempt: whole, ...attempt }),
    description: `The last ${attemptsShown} attempts, oldest first.`
  }
})

const filter = filtersOf({ status: choice(deliveryStates, { about: 'Only deliveries in this state.' }) })

const list: ApiRoute = {
  method: 'GET',
  path: '/api/station/:station_id/webhook/:id/deliveries',
  access: 'manage station web hooks',
  operation: {
    id: 'listWebhookDeliveries',
    tag: 'Web hooks',
    summary: 'What a web hook was told and how that went, newest first',
    query: { ...listParameters([]), ...filter.schemas },
    answer: listSchema({ $ref: '#/components/schemas/WebhookDelivery' })
  },
  async handle(request, services) {
    const { reads: sql, config } = services
    const query = parseListQuery(request.query, [])
    const { status } = filter.parse(request.query)
    const hook = await readHook(sql, request)
    // Bounds and order of an index that begins with the hook: see "walks an index of all stations" in
    // docs/gotchas.md.
    const [key, values] =
      status === undefined
        ? [sql`webhook_id`, sql`${hook.id}::bigint`]
        : [sql`webhook_id, state`, sql`${hook.id}::bigint, ${status}::text`]
    const newest = sql`
      select * from webhook_deliveries where (${key}) >= (${values}) and (${key}) <= (${values})
      order by ${key}, id desc ${newestRows(sql)}`
    const deliveries = sql`
      select d.* from (${newest}) d
      ${query.search === '' ? sql`` : sql`where d.message_id ilike ${likePattern(query.search)}`}`
    const rows = await readList<Delivery>(request, services, query, {
      select: deliveries,
      expand: page => withLastAttempts(sql, page),
      matching: deliveries,
      render: some => some.map(row => shownAttempt(row, request, hook))
    })
    return listReply(rows, query, request, config.BASE_URL)
  }
}

const read: ApiRoute = {
  method: 'GET',
  path: '/api/station/:station_id/webhook/:id/delivery/:delivery_id',
  access: 'manage station web hooks',
  operation: {
    id: 'getWebhookDelivery',
    tag: 'Web hooks',
    summary: 'Read what a web hook was told, with all attempts to tell it',
    answer: { $ref: '#/components/schemas/WebhookDeliveryLog' }
  },
  async handle(request, { reads: sql }) {
    const hook = await readHook(sql, request)
    const id = parseId(request.params['delivery_id'])
    const [[found], log] = await Promise.all([
      sql<
        Delivery[]
      >`${withLastAttempts(sql, sql`select * from webhook_deliveries where webhook_id = ${hook.id} and id = ${id}`)}`,
      sql<Attempt[]>`
        select attempt, started_at_ms / 1000 as attempted_at, duration_ms, status, error, url, response
        from webhook_attempts where delivery_id = ${id} order by id desc limit ${attemptsShown}`
    ])
    if (!found) throw new ApiError('not-found')
    const attempts = log.map(each => shownAttempt(each, request, hook))
    return json({ ...shownAttempt(found, request, hook), log: attempts.toReversed() })
  }
}

/** An attempt as the caller may see it: the path of an address may hold a token. */
function shownAttempt<A extends Pick<Attempt, 'url'>>(shown: A, { caller }: ApiRequest, hook: HookRow): A {
  const isWhole = hookTypeOf(hook.type).urls.length === 0 || shown.url === '' || shown.url === 'mailto:'
  const rights = caller?.key ?? null
  if (isWhole || maySeeWholeAddresses(rights, 'manage station web hooks', caller?.station?.id ?? 0))
    return shown
  return { ...shown, url: redactedAddress(shown.url, false) }
}

/** Deliveries with their last attempts, newest first, in the order of the interface's keys. */
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
