import type { ScheduleItem } from '../../../../model/autodj/schedule.ts'
import { scheduleItemSchema } from '../../../playlists/schedule-items.ts'
import { emptyToNull } from '../../record-dialect.ts'
import { schemaChanger } from '../../response-schema.ts'

/** An item of a schedule: a date that is not set is null. */
export const renderAzuracastScheduleItem = (item: ScheduleItem) => ({
  ...item,
  start_date: emptyToNull(item.start_date),
  end_date: emptyToNull(item.end_date)
})

/** The schema of a rendered item. */
export const azuracastScheduleItemSchema = schemaChanger({ nullable: ['start_date', 'end_date'] })(
  scheduleItemSchema
)
