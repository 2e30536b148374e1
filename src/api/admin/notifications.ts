import { choiceField, flagField, listField, textField, type ValuesOf } from '../../model/fields/field.ts'
import { bodySchema, changesValidator, bodyValidator } from '../../model/fields/validators.ts'
import { ApiError, refuseBody, refuseField } from '../../platform/runtime/errors.ts'
import { notificationTypes } from '../../stores/db/notifications.ts'
import type { Fragment, Sql, Tx } from '../../stores/db/sql.ts'
import { visibleNotificationSources } from '../auth/access.ts'
import { accountLevelReply, accountLevelSchema } from '../auth/account-level-replies.ts'
import { actionRoute } from '../core/actions.ts'
import { type AuditEntry, toAuditedChanges, changedWithoutValues } from '../core/audit.ts'
import { listRoute } from '../core/list-route.ts'
import { containsTextFragment, newestRowsLimitFragment } from '../core/list.ts'
import { openQueryFilters, parseBody, parsePathTextId } from '../core/parse.ts'
import { type ApiRequest, apiRoute } from '../core/route.ts'
import {
  arrayOf,
  boolean,
  exactObject,
  int64,
  namedSchema,
  oneOfObjects,
  string,
  unixSeconds
} from '../core/schemas.ts'

const path = '/api/v1/main/notifications'
const tag = 'Notifications'
const write = 'administer settings'

const fields = {
  title: textField({ min: 1, max: 200, isTrimmed: true, about: 'The headline.', example: 'Maintenance' }),
  body: textField({ max: 20_000, fallback: '', isLong: true, about: 'The text.' }),
  type: choiceField(notificationTypes, { fallback: 'info', about: 'How it is presented.' })
}
const notificationValidator = bodyValidator(fields)
const readState = { is_read: flagField({ about: 'Whether it was read.' }) }
const readStateValidator = bodyValidator(readState)
const filters = openQueryFilters({
  type: choiceField(notificationTypes, { about: 'Only notifications of this type.' }),
  is_read: flagField({ about: 'Only read, or only unread notifications.' }),
  source: textField({
    max: 100,
    about: 'Only notifications of this source: operator, or a part of the system.'
  })
})

/** A notification as `columns` selects it. */
type NotificationRow = ValuesOf<typeof fields> & {
  readonly notification_id: string
  readonly source: string
  readonly is_read: boolean
  readonly created_at: number
  readonly read_at: number
}

/** The entry of the audit log about a creation (`before` is null) or a deletion (`after` is null). */
function auditNotification(before: NotificationRow | null, after: NotificationRow | null): AuditEntry {
  const { notification_id: id = '', title: name = '' } = after ?? before ?? {}
  return { record: 'Notification', id, name, changes: toAuditedChanges(fields, before, after) }
}

const columns = (sql: Sql | Tx) => sql`
  notification_id, title, body, type, source, read_at is not null as is_read,
  floor(extract(epoch from created_at))::bigint as created_at,
  coalesce(floor(extract(epoch from read_at)), 0)::bigint as read_at`

const integer = { type: 'integer' }
const readOnly = {
  notification_id: string,
  source: { ...string, description: 'operator, or the part of the system that raised it.' },
  created_at: unixSeconds,
  read_at: { ...int64, description: 'Unix seconds; 0: not read.' }
}
const notificationSchema = namedSchema(
  'Notification',
  'A notification to operators.',
  exactObject({
    ...readOnly,
    title: string,
    body: string,
    type: { ...string, enum: notificationTypes },
    is_read: boolean
  })
)
const record = notificationSchema
const oneNotification = accountLevelSchema({ notification: record })

/** The condition that the caller may see a notification. It depends on the source. */
function visible(sql: Sql | Tx, { caller }: ApiRequest): Fragment {
  const sources = caller?.key ? visibleNotificationSources(caller.key) : []
  return sources === null ? sql`true` : sql`source = any(${[...sources]}::text[])`
}

/** The newest notifications that the caller may see. */
const newest = (sql: Sql, request: ApiRequest): Fragment => sql`
  select * from notifications where ${visible(sql, request)}
  order by notifications.created_at desc, notification_id ${newestRowsLimitFragment(sql)}`

const parseNotificationId = ({ params }: ApiRequest) =>
  parsePathTextId(params['notification_id'], /^[0-9a-f-]{36}$/)

const list = listRoute(path, 'view administration', {
  id: 'listNotifications',
  tag,
  summary: 'The notifications that the key may see, newest first',
  name: 'notifications',
  record,
  filters: filters.schemas,
  open(query, request, { reads: sql }) {
    const { type, is_read: isRead, source } = filters.parse(request.query)
    const contains = containsTextFragment(sql, query.search)
    const found = sql`
      select * from (${newest(sql, request)}) n
      where ${query.search === '' ? sql`true` : sql`(title ${contains} or body ${contains})`}
        ${type === undefined ? sql`` : sql`and type = ${type}`}
        ${isRead === undefined ? sql`` : sql`and ${hasReadState(sql, isRead)}`}
        ${source === undefined ? sql`` : sql`and source = ${source}`}`
    return {
      select: found,
      expand: page => sql`select ${columns(sql)} from (${page}) n`,
      matching: found
    }
  }
})

const hasReadState = (sql: Sql | Tx, isRead: boolean): Fragment =>
  isRead ? sql`read_at is not null` : sql`read_at is null`

const create = actionRoute('POST', path, write, {
  id: 'createNotification',
  tag,
  summary: 'Create a notification for the operators',
  body: bodySchema(fields, { readOnly }),
  response: oneNotification,
  prepare(request) {
    const values = parseBody(notificationValidator, request.body)
    return async tx => {
      const [notification] = await tx<NotificationRow[]>`
        insert into notifications ${tx(values)} returning ${columns(tx)}`
      if (!notification) throw new Error('insert returned no row')
      return { audit: [auditNotification(null, notification)], reply: accountLevelReply({ notification }) }
    }
  }
})

const stats = apiRoute('GET', `${path}/stats`, 'view administration', {
  id: 'countNotifications',
  tag,
  summary: 'Number of visible notifications, among the newest 100,000',
  response: accountLevelSchema({
    total: integer,
    unread: integer,
    by_type: exactObject(Object.fromEntries(notificationTypes.map(name => [name, integer])))
  }),
  async handle(request, { reads: sql }) {
    const rows = await sql<{ type: string; total: number; unread: number }[]>`
      select type, count(*) as total, count(*) filter (where read_at is null) as unread
      from (${newest(sql, request)}) n group by type`
    const sum = (of: 'total' | 'unread') => rows.reduce((all, row) => all + row[of], 0)
    const totals = new Map(rows.map(({ type, total }) => [type, total]))
    const byType = Object.fromEntries(notificationTypes.map(name => [name, totals.get(name) ?? 0]))
    return accountLevelReply({ total: sum('total'), unread: sum('unread'), by_type: byType })
  }
})

const read = apiRoute('GET', `${path}/:notification_id`, 'view administration', {
  id: 'getNotification',
  tag,
  summary: 'Read a notification',
  response: oneNotification,
  handle: async (request, { reads: sql }) =>
    accountLevelReply({ notification: await loadNotification(sql, request, parseNotificationId(request)) })
})

/** Reads a notification. Throws 404 if it does not exist or the caller may not see it. */
async function loadNotification(sql: Sql | Tx, request: ApiRequest, id: string): Promise<NotificationRow> {
  const [notification] = await sql<NotificationRow[]>`
    select ${columns(sql)} from notifications where notification_id = ${id} and ${visible(sql, request)}`
  if (!notification) throw new ApiError('not-found')
  return notification
}

const mark = actionRoute('PUT', `${path}/:notification_id`, write, {
  id: 'markNotification',
  tag,
  summary: 'Mark a notification as read or unread',
  body: bodySchema(readState, { readOnly }),
  response: oneNotification,
  prepare(request) {
    const id = parseNotificationId(request)
    const { is_read: isRead } = parseBody(readStateValidator, request.body)
    return async tx => {
      const { count } = await tx`
        update notifications set read_at = ${isRead ? tx`now()` : null}
        where notification_id = ${id} and ${visible(tx, request)} and not ${hasReadState(tx, isRead)}`
      const notification = await loadNotification(tx, request, id)
      const changes = { is_read: { from: !isRead, to: isRead } }
      const entry = { record: 'Notification', id, name: notification.title, changes }
      return { audit: count > 0 ? [entry] : [], reply: accountLevelReply({ notification }) }
    }
  }
})

const remove = actionRoute('DELETE', `${path}/:notification_id`, write, {
  id: 'deleteNotification',
  tag,
  summary: 'Delete a notification',
  response: accountLevelSchema(),
  prepare(request) {
    const id = parseNotificationId(request)
    return async tx => {
      const [removed] = await tx<NotificationRow[]>`
        delete from notifications where notification_id = ${id} and ${visible(tx, request)} returning ${columns(tx)}`
      if (!removed) throw new ApiError('not-found')
      return { audit: [auditNotification(removed, null)], reply: accountLevelReply() }
    }
  }
})

const id = textField({ min: 1, max: 64, about: 'The id of a notification.' })
const maxIds = 10_000
const criteria = {
  ids: {
    ...listField(id.input, { max: maxIds, items: id.schema, about: 'Notifications with these ids.' }),
    fallback: undefined
  },
  is_read: flagField({ about: 'All read, or all unread notifications.' }),
  read: flagField({ about: 'Alias of is_read.' }),
  all: flagField({ about: 'True: all notifications.' })
}
const criteriaValidator = changesValidator(criteria)
const bulkSchema = {
  ...oneOfObjects({
    ids: { ...arrayOf(id.schema), maxItems: maxIds },
    is_read: boolean,
    read: boolean,
    all: { const: true }
  }),
  examples: [{ is_read: true }]
}

const bulkDelete = actionRoute('POST', `${path}/bulk-delete`, write, {
  id: 'deleteNotifications',
  tag,
  summary: 'Delete visible notifications; the body has exactly one criterion',
  body: bulkSchema,
  response: accountLevelSchema({ deleted: integer }),
  prepare(request) {
    const values = parseBody(criteriaValidator, request.body)
    const names = Object.keys(values)
    if (names.length !== 1) refuseBody('required', 'The body must have exactly one of ids, is_read and all.')
    if (values.all === false) refuseField('all', 'out_of_range', 'must be true.')
    const isRead = values.is_read ?? values.read
    return async tx => {
      const which = values.ids
        ? tx`notification_id = any(${values.ids}::text[])`
        : isRead === undefined
          ? tx`true`
          : hasReadState(tx, isRead)
      const { count } = await tx`delete from notifications where ${which} and ${visible(tx, request)}`
      const entry = { record: 'Notification', id: '*', changes: changedWithoutValues(...names) }
      return { audit: count > 0 ? [entry] : [], reply: accountLevelReply({ deleted: count }) }
    }
  }
})

export const notificationRoutes = [list, create, bulkDelete, stats, read, mark, remove]
