import type { ScheduleItem } from '../../../../model/autodj/schedule.ts'
import { scheduleItemSchema } from '../../../playlists/schedule-items.ts'
import { orNull } from '../../record-dialect.ts'
import { changeSchema } from '../../response-schema.ts'

/** An item of a schedule: a date that is not set is null. */
export const renderScheduleItem = (item: ScheduleItem) => ({
  ...item,
  start_date: orNull(item.start_date),
  end_date: orNull(item.end_date)
})

/** The schema of a rendered item. */
export const azuracastScheduleItemSchema = changeSchema({ nullable: ['start_date', 'end_date'] })(
  scheduleItemSchema
)
