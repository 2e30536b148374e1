import type { ScheduleItem } from '../../model/autodj/schedule.ts'
import { flag, hashed, listOf, secret, text } from '../../model/fields/field.ts'
import { resourceRoutes } from '../core/resource-routes.ts'
import { type ResourceHooks, resource } from '../core/resource.ts'
import { assignItemIds, scheduleItemValidator, scheduleItemSchema } from '../playlists/schedule-items.ts'

/** Accounts of DJs who broadcast live with a streaming client. */
export const streamers = resource({
  name: 'Streamer',
  title: 'streamer',
  tag: 'Streamers',
  table: 'streamers',
  paths: { list: '/api/station/:station_id/streamers', one: '/api/station/:station_id/streamer/:id' },
  access: { read: 'manage station streamers', write: 'manage station streamers' },
  fields: {
    streamer_username: text({
      min: 1,
      max: 50,
      isTrimmed: true,
      pattern: /^(?![sS][oO][uU][rR][cC][eE]$)[^,:]+$/,
      says: 'must not be "source" or contain a comma or colon.',
      about: 'Unique on the station.',
      example: 'wren'
    }),
    streamer_password: hashed(
      secret({
        max: 255,
        // Liquidsoap's harbor treats a colon as the end of the user name.
        pattern: /^[^:]*$/,
        says: 'must not contain a colon, which streaming clients cannot send.',
        about: 'Without a password the streamer cannot connect. Null removes it.'
      })
    ),
    display_name: text({
      max: 255,
      fallback: '',
      isTrimmed: true,
      about: 'The name shown while the streamer is live; the username if empty.',
      example: 'DJ Wren'
    }),
    comments: text({ max: 2_000, fallback: '', isLong: true, about: 'Notes, not shown to listeners.' }),
    is_active: flag({ fallback: true, about: 'Whether the streamer may go live.' }),
    enforce_schedule: flag({ fallback: false, about: 'Whether that is limited to scheduled times.' }),
    schedule_items: listOf<ScheduleItem>(scheduleItemValidator, {
      max: 100,
      items: scheduleItemSchema,
      about: 'Scheduled times; a list in a body replaces all items.'
    })
  },
  label: 'streamer_username',
  search: ['streamer_username', 'display_name'],
  sort: ['id', 'streamer_username', 'display_name'],
  order: 'streamer_username',
  unique: { streamers_username: 'streamer_username' }
})

const hooks: ResourceHooks<typeof streamers.fields> = {
  async beforeWrite({ tx, before, values }) {
    if (values === null) return []
    values.schedule_items = await assignItemIds(tx, values.schedule_items, before?.schedule_items ?? [])
    return []
  }
}

export const streamerRoutes = resourceRoutes(streamers, hooks)
