import type { ScheduleItem } from '../../model/autodj/schedule.ts'
import { flagField, hashedField, listField, secretField, textField } from '../../model/fields/field.ts'
import { resourceRoutes } from '../core/resource-routes.ts'
import { type ResourceHooks, defineResource } from '../core/resource.ts'
import {
  assignScheduleItemIds,
  scheduleItemValidator,
  scheduleItemSchema
} from '../playlists/schedule-items.ts'

/** Accounts of DJs who broadcast live with a streaming client. */
export const streamersResource = defineResource({
  name: 'Streamer',
  title: 'streamer',
  tag: 'Streamers',
  table: 'streamers',
  paths: { list: '/api/station/:station_id/streamers', one: '/api/station/:station_id/streamer/:id' },
  access: { read: 'manage station streamers', write: 'manage station streamers' },
  fields: {
    streamer_username: textField({
      min: 1,
      max: 50,
      isTrimmed: true,
      pattern: /^(?![sS][oO][uU][rR][cC][eE]$)[^,:]+$/,
      says: 'must not be "source" or contain a comma or colon.',
      about: 'Unique on the station.',
      example: 'wren'
    }),
    streamer_password: hashedField(
      secretField({
        max: 255,
        // Liquidsoap's harbor treats a colon as the end of the user name.
        pattern: /^[^:]*$/,
        says: 'must not contain a colon, which streaming clients cannot send.',
        about: 'Without a password the streamer cannot connect. Null removes it.'
      })
    ),
    display_name: textField({
      max: 255,
      fallback: '',
      isTrimmed: true,
      about: 'The name shown while the streamer is live; the username if empty.',
      example: 'DJ Wren'
    }),
    comments: textField({ max: 2_000, fallback: '', isLong: true, about: 'Notes, not shown to listeners.' }),
    is_active: flagField({ fallback: true, about: 'Whether the streamer may go live.' }),
    enforce_schedule: flagField({ fallback: false, about: 'Whether that is limited to scheduled times.' }),
    schedule_items: listField<ScheduleItem>(scheduleItemValidator, {
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

const hooks: ResourceHooks<typeof streamersResource.fields> = {
  async beforeWrite({ tx, before, values }) {
    if (values === null) return []
    values.schedule_items = await assignScheduleItemIds(
      tx,
      values.schedule_items,
      before?.schedule_items ?? []
    )
    return []
  }
}

export const streamerRoutes = resourceRoutes(streamersResource, hooks)
