import { html } from 'lit'

import type { NowPlaying } from '../../client/interface.ts'
import type { ApiRecord } from '../forms/form-values.ts'
import type { ApiScheduleItem } from '../schedule/schedule-item.ts'
import { formatScheduleItem } from '../schedule/schedule-text.ts'
import { type Chip, chipView } from '../ui/controls.ts'
import { formatCount } from '../ui/text.ts'
import { startCopyWith, type ResourceView, recordTextOf } from './resource.ts'

type Live = NowPlaying['live']

const schedulesIn = ({ schedule_items: items }: ApiRecord): readonly ApiScheduleItem[] =>
  Array.isArray(items) ? items : []

const nameOf = (record: ApiRecord) => recordTextOf(record, 'streamer_username')
const shownName = (record: ApiRecord) => recordTextOf(record, 'display_name') || nameOf(record)

function describeSchedule(record: ApiRecord): string {
  const isEnforced = record['enforce_schedule'] === true
  const times = schedulesIn(record).map(formatScheduleItem).join('; ')
  if (times === '') return isEnforced ? 'Never: the schedule is empty' : 'At any time'
  return isEnforced ? `${times}, at no other time` : times
}

function streamerChip(record: ApiRecord, live: Live): Chip {
  if (live.is_live && live.streamer_name === shownName(record)) return { text: 'Live', tone: 'good' }
  return record['is_active'] === true
    ? { text: 'Enabled', tone: 'neutral' }
    : { text: 'Disabled', tone: 'warning' }
}

/** The accounts of DJs, and who of them is live. Their schedules have an editor of their own. */
export const streamersResourceView = (live: Live): ResourceView => ({
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
  toCopy: startCopyWith(record => ({ streamer_username: `${nameOf(record)}-copy` })),
  describeLoss: record =>
    `${nameOf(record)} can no longer go live. The password, the picture and ${formatCount(schedulesIn(record).length, 'scheduled time')} are lost; past live shows stay in the history.`
})
