import { html } from 'lit'
import * as v from 'valibot'

import type { NowPlaying } from '../../client/interface.ts'
import type { ApiRecord } from '../forms/form-values.ts'
import { formatSchedule, scheduleEntrySchema } from '../schedule/schedule-text.ts'
import { type Chip, chipView } from '../ui/controls.ts'
import { formatCount } from '../ui/text.ts'
import { copyWith, type ResourceView, textOf } from './resource.ts'

type Live = NowPlaying['live']

const schedulesSchema = v.fallback(v.array(scheduleEntrySchema), [])

const nameOf = (record: ApiRecord) => textOf(record, 'streamer_username')
const shownName = (record: ApiRecord) => textOf(record, 'display_name') || nameOf(record)

function describeSchedule({ schedule_items: items, enforce_schedule: isEnforced }: ApiRecord): string {
  const times = v.parse(schedulesSchema, items).map(formatSchedule).join('; ')
  if (times === '') return isEnforced === true ? 'Never: the schedule is empty' : 'At any time'
  return isEnforced === true ? `${times}, at no other time` : times
}

function streamerChip(record: ApiRecord, live: Live): Chip {
  if (live.is_live && live.streamer_name === shownName(record)) return { text: 'Live', tone: 'good' }
  return record['is_active'] === true
    ? { text: 'Enabled', tone: 'neutral' }
    : { text: 'Disabled', tone: 'warning' }
}

/** The accounts of DJs, and who of them is live. Their schedules have an editor of their own. */
export const listStreamers = (live: Live): ResourceView => ({
  title: 'Streamers',
  noun: 'streamer',
  emptyText: 'This station has no streamers. A streamer is the account of a DJ who goes live.',
  paths: { list: '/api/station/{station_id}/streamers', one: '/api/station/{station_id}/streamer/{id}' },
  write: 'manageStreamers',
  columns: [
    {
      title: 'Name',
      view: record =>
        html`${shownName(record)}
          <p class="row-artist">${shownName(record) === nameOf(record) ? '' : nameOf(record)}</p>`
    },
    { title: 'Schedule', style: 'wide', view: describeSchedule },
    { title: 'State', view: record => chipView(streamerChip(record, live)) }
  ],
  nameOf,
  openFields: fields => () => fields.filter(({ name }) => name !== 'schedule_items'),
  toCopy: copyWith(record => ({ streamer_username: `${nameOf(record)}-copy` })),
  describeLoss: ({ schedule_items: items, ...record }) =>
    `${nameOf(record)} can no longer go live. The password, the picture and ${formatCount(Array.isArray(items) ? items.length : 0, 'scheduled time')} are lost; past live shows stay in the history.`
})
