import { notificationTypes } from '../../stores/db/notifications.ts'
import { visibleNotificationSources } from '../auth/access.ts'
import { apiRoute, jsonReply } from '../core/route.ts'
import { arrayOf, exactObject, string } from '../core/schemas.ts'

const maxShown = 100
const nullableString = { type: ['string', 'null'] }

export const dashboardNotificationsRoute = apiRoute(
  'GET',
  '/api/frontend/dashboard/notifications',
  'any key',
  {
    id: 'listDashboardNotifications',
    tag: 'Dashboard',
    summary: `The newest ${maxShown} unread notifications that the key may see; none without the permission to see any`,
    response: arrayOf(
      exactObject({
        id: string,
        title: string,
        body: string,
        type: { ...string, enum: notificationTypes },
        actionLabel: nullableString,
        actionUrl: nullableString
      })
    ),
    async handle({ caller }, { reads: sql }) {
      const sources = caller?.key ? visibleNotificationSources(caller.key) : []
      return jsonReply(
        await sql`
        select notification_id as id, title, body, type, null as "actionLabel", null as "actionUrl"
        from notifications
        where read_at is null and ${sources === null ? sql`true` : sql`source = any(${[...sources]}::text[])`}
        order by notifications.created_at desc, notification_id limit ${maxShown}`
      )
    }
  }
)
