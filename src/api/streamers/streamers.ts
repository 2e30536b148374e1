import type { ScheduleItem } from '../../autodj/schedule.ts'
import { flag, listOf, secret, text } from '../../fields/field.ts'
import { hashPassword } from '../../security/passwords.ts'
import { resourceRoutes } from '../core/resource-routes.ts'
import { type ResourceRules, resource } from '../core/resource.ts'
import { assignItemIds, scheduleItem, scheduleItemSchema } from '../playlists/schedule-items.ts'

/** Who may go live on a station with a streaming program of their own. */
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
      says: 'must not be "source", nor hold a comma or a colon.',
      about: 'Unique on the station.',
      example: 'wren'
    }),
    streamer_password: secret({
      max: 255,
      // HTTP's Basic scheme could carry one, Liquidsoap's harbor takes it for the end of the name.
      pattern: /^[^:]*$/,
      says: 'must not hold a colon, which streaming programs cannot send.',
      about: 'Without one nobody gets in; null takes it away.'
    }),
    display_name: text({
      max: 255,
      fallback: '',
      isTrimmed: true,
      about: 'What listeners read while the streamer is live; the username where it is empty.',
      example: 'DJ Wren'
    }),
    comments: text({ max: 2_000, fallback: '', isLong: true, about: 'Notes that listeners do not see.' }),
    is_active: flag({ fallback: true, about: 'Whether the streamer may go live.' }),
    enforce_schedule: flag({
      fallback: false,
      about: 'Whether that is so in the times of the schedule only.'
    }),
    schedule_items: listOf<ScheduleItem>(scheduleItem, {
      max: 100,
      items: scheduleItemSchema,
      about: 'When the streamer is expected; a list in a body replaces all items.'
    })
  },
  search: ['streamer_username', 'display_name'],
  sort: ['id', 'streamer_username', 'display_name'],
  order: 'streamer_username',
  unique: { streamers_username: 'streamer_username' }
})

const rules: ResourceRules<typeof streamers.fields> = {
  async prepare({ tx, before, values }) {
    values.schedule_items = await assignItemIds(tx, values.schedule_items, before?.schedule_items ?? [])
    return []
  },
  protect: password => hashPassword(password)
}

export const streamerRoutes = resourceRoutes(streamers, rules)
