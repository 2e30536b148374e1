import { notificationTypes } from '../../db/notifications.ts'
import type { Fragment, Sql, Tx } from '../../db/sql.ts'
import { choice, type Field, flag, listOf, text } from '../../fields/field.ts'
import { bodySchema, changesOf, formOf } from '../../fields/form.ts'
import { ApiError } from '../../runtime/errors.ts'
import { visibleSources } from '../auth/access.ts'
import { succeeded, succeededList, successListSchema, successSchema } from '../auth/account.ts'
import { recordAudit } from '../core/audit.ts'
import { likePattern, listParameters, newestRows, parseListQuery, readList } from '../core/list.ts'
import { filtersOf, parseBody } from '../core/parse.ts'
import type { ApiRequest, ApiRoute } from '../core/route.ts'
import { exactly, oneOf } from '../core/schemas.ts'

const path = '/api/v1/main/notifications'
const tag = 'Notifications'
const write = 'administer settings'

const fields = {
  title: text({ min: 1, max: 200, isTrimmed: true, about: 'The headline.', example: 'Maintenance' }),
  body: text({ max: 20_000, fallback: '', isLong: true, about: 'The rest.' }),
  type: choice(notificationTypes, { fallback: 'info', about: 'How it is presented.' })
}
const creation = formOf(fields)
const reading = { is_read: flag({ about: 'Whether somebody has read it.' }) }
const readForm = formOf(reading)
const filters = filtersOf({
  type: choice(notificationTypes, { about: 'Only notifications of this type.' }),
  is_read: flag({ about: 'Only those that were read, or were not.' }),
  source: text({ max: 100, about: 'Only those from there: operator, or a part of the system.' })
})

interface NotificationRow {
  readonly notification_id: string
  readonly title: string
  readonly body: string
  readonly type: string
  readonly source: string
  readonly is_read: boolean
  readonly created_at: number
  readonly read_at: number
}

const columns = (sql: Sql | Tx) => sql`
  notification_id, title, body, type, source, read_at is not null as is_read,
  floor(extract(epoch from created_at))::bigint as created_at,
  coalesce(floor(extract(epoch from read_at)), 0)::bigint as read_at`

const word = { type: 'string' }
const type = { type: 'string', enum: notificationTypes }
const seconds = { type: 'integer', format: 'int64', description: 'Unix seconds' }
const readOnly = {
  notification_id: word,
  source: { ...word, description: 'operator, or the part of the system that raised it.' },
  created_at: seconds,
  read_at: { ...seconds, description: 'Unix seconds; 0: not read.' }
}
export const notificationSchema = exactly({
  ...readOnly,
  title: word,
  body: word,
  type,
  is_read: { type: 'boolean' }
})
const record = { $ref: '#/components/schemas/Notification' }
const oneNotification = successSchema({ notification: record })

/** The condition that the caller may see a notification: what it is about may be told to some only. */
function visible(sql: Sql | Tx, { caller }: ApiRequest): Fragment {
  const sources = caller?.key ? visibleSources(caller.key) : []
  return sources === null ? sql`true` : sql`source = any(${[...sources]}::text[])`
}

/** The newest notifications that the caller may see. */
const newest = (sql: Sql, request: ApiRequest): Fragment => sql`
  select * from notifications where ${visible(sql, request)}
  order by notifications.created_at desc, notification_id ${newestRows(sql)}`

/** The id a path names. Throws 404 for what can be none. */
function idOf({ params }: ApiRequest): string {
  const id = params['notification_id'] ?? ''
  if (!/^[0-9a-f-]{36}$/.test(id)) throw new ApiError('not-found')
  return id
}

const list: ApiRoute = {
  method: 'GET',
  path,
  access: 'view administration',
  operation: {
    id: 'listNotifications',
    tag,
    summary: 'The notifications that the key may see, newest first',
    query: { ...listParameters([]), ...filters.schemas },
    answer: successListSchema('notifications', record)
  },
  async handle(request, services) {
    const { reads: sql, config } = services
    const query = parseListQuery(request.query, [])
    const { type: ofType, is_read: isRead, source } = filters.parse(request.query)
    const pattern = likePattern(query.search)
    const where = sql`
      where ${query.search === '' ? sql`true` : sql`(title ilike ${pattern} or body ilike ${pattern})`}
        ${ofType === undefined ? sql`` : sql`and type = ${ofType}`}
        ${isRead === undefined ? sql`` : sql`and ${readOrNot(sql, isRead)}`}
        ${source === undefined ? sql`` : sql`and source = ${source}`}`
    const found = sql`select * from (${newest(sql, request)}) n ${where}`
    const rows = await readList<NotificationRow>(request, services, query, {
      select: found,
      expand: page => sql`select ${columns(sql)} from (${page}) n`,
      matching: found
    })
    return succeededList('notifications', rows, query, request, config.BASE_URL)
  }
}

const readOrNot = (sql: Sql | Tx, isRead: boolean): Fragment =>
  isRead ? sql`read_at is not null` : sql`read_at is null`

const create: ApiRoute = {
  method: 'POST',
  path,
  access: write,
  operation: {
    id: 'createNotification',
    tag,
    summary: 'Notify the operators',
    body: bodySchema(fields, { readOnly }),
    answer: oneNotification
  },
  async handle(request, { sql }) {
    const asked = parseBody(creation, request.body)
    return sql.begin(async tx => {
      const [notification] = await tx<NotificationRow[]>`
        insert into notifications ${tx(asked)} returning ${columns(tx)}`
      if (!notification) throw new Error('insert gave no row')
      const change = { id: notification.notification_id, fields: Object.keys(asked) }
      await recordAudit(tx, request, { record: 'Notification', ...change })
      return succeeded({ notification })
    })
  }
}

const stats: ApiRoute = {
  method: 'GET',
  path: `${path}/stats`,
  access: 'view administration',
  operation: {
    id: 'countNotifications',
    tag,
    summary: 'How many notifications there are that the key may see, among the newest 100,000',
    answer: successSchema({
      total: { type: 'integer' },
      unread: { type: 'integer' },
      by_type: exactly(Object.fromEntries(notificationTypes.map(name => [name, { type: 'integer' }])))
    })
  },
  async handle(request, { reads: sql }) {
    const rows = await sql<{ type: string; total: number; unread: number }[]>`
      select type, count(*) as total, count(*) filter (where read_at is null) as unread
      from (${newest(sql, request)}) n group by type`
    const sum = (of: 'total' | 'unread') => rows.reduce((all, row) => all + row[of], 0)
    const totalOf = (name: string) => rows.find(row => row.type === name)?.total ?? 0
    const byType = Object.fromEntries(notificationTypes.map(name => [name, totalOf(name)]))
    return succeeded({ total: sum('total'), unread: sum('unread'), by_type: byType })
  }
}

const read: ApiRoute = {
  method: 'GET',
  path: `${path}/:notification_id`,
  access: 'view administration',
  operation: { id: 'getNotification', tag, summary: 'Read a notification', answer: oneNotification },
  async handle(request, { reads: sql }) {
    const [notification] = await sql<NotificationRow[]>`
      select ${columns(sql)} from notifications
      where notification_id = ${idOf(request)} and ${visible(sql, request)}`
    if (!notification) throw new ApiError('not-found')
    return succeeded({ notification })
  }
}

const mark: ApiRoute = {
  method: 'PUT',
  path: `${path}/:notification_id`,
  access: write,
  operation: {
    id: 'markNotification',
    tag,
    summary: 'Mark a notification as read, or as not read',
    body: bodySchema(reading, { readOnly }),
    answer: oneNotification
  },
  async handle(request, { sql }) {
    const id = idOf(request)
    const { is_read: isRead } = parseBody(readForm, request.body)
    return sql.begin(async tx => {
      const { count } = await tx`
        update notifications set read_at = ${isRead ? tx`now()` : null}
        where notification_id = ${id} and ${visible(tx, request)} and not ${readOrNot(tx, isRead)}`
      const [notification] = await tx<NotificationRow[]>`
        select ${columns(tx)} from notifications
        where notification_id = ${id} and ${visible(tx, request)}`
      if (!notification) throw new ApiError('not-found')
      if (count > 0) await recordAudit(tx, request, { record: 'Notification', id, fields: ['is_read'] })
      return succeeded({ notification })
    })
  }
}

const remove: ApiRoute = {
  method: 'DELETE',
  path: `${path}/:notification_id`,
  access: write,
  operation: { id: 'deleteNotification', tag, summary: 'Delete a notification', answer: successSchema() },
  async handle(request, { sql }) {
    const id = idOf(request)
    await sql.begin(async tx => {
      const { count } = await tx`delete from notifications
        where notification_id = ${id} and ${visible(tx, request)}`
      if (count === 0) throw new ApiError('not-found')
      await recordAudit(tx, request, { record: 'Notification', id })
    })
    return succeeded()
  }
}

/** A field that a body may leave out altogether. */
const optional = <Value>(field: Field<Value>): Field<Value> => ({ ...field, fallback: undefined })
const id = text({ min: 1, max: 64, about: 'The id of a notification.' })
const criteria = {
  ids: optional(
    listOf(id.input, { max: 10_000, items: id.schema, about: 'These; ids that are not there count as gone.' })
  ),
  is_read: flag({ about: 'All that were read, or that were not.' }),
  read: flag({ about: 'The same as is_read.' }),
  all: flag({ about: 'True: all of them.' })
}
const criteriaForm = changesOf(criteria)

/** Exactly one of the criteria. */
const bulkSchema = {
  ...oneOf({
    ids: { type: 'array', items: id.schema, maxItems: 10_000 },
    is_read: { type: 'boolean' },
    read: { type: 'boolean' },
    all: { const: true }
  }),
  examples: [{ is_read: true }]
}

const bulkDelete: ApiRoute = {
  method: 'POST',
  path: `${path}/bulk-delete`,
  access: write,
  operation: {
    id: 'deleteNotifications',
    tag,
    summary: 'Delete many notifications that the key may see; the body says by exactly one word which',
    body: bulkSchema,
    answer: successSchema({ deleted: { type: 'integer' } })
  },
  async handle(request, { sql }) {
    const asked = parseBody(criteriaForm, request.body)
    const names = Object.keys(asked)
    if (names.length !== 1) refuse('', 'The body must have exactly one of ids, is_read and all.')
    if (asked.all === false) refuse('all', 'all must be true.')
    const isRead = asked.is_read ?? asked.read
    return sql.begin(async tx => {
      const which = asked.ids
        ? tx`notification_id = any(${asked.ids}::text[])`
        : isRead === undefined
          ? tx`true`
          : readOrNot(tx, isRead)
      const { count } = await tx`delete from notifications where ${which} and ${visible(tx, request)}`
      if (count > 0) await recordAudit(tx, request, { record: 'Notification', id: '*', fields: names })
      return succeeded({ deleted: count })
    })
  }
}

function refuse(field: string, message: string): never {
  throw ApiError.ofFields([{ field, code: field === '' ? 'required' : 'out_of_range', message }])
}

export const notificationRoutes = [list, create, bulkDelete, stats, read, mark, remove]
