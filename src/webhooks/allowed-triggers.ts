import { type Trigger, triggers } from '../station/triggers.ts'

export const everyTrigger: readonly Trigger[] = triggers

/** For places where people read: a message for each listener who comes or goes would be noise. */
export const withoutListeners: readonly Trigger[] = triggers.filter(
  trigger => !trigger.startsWith('listener_')
)

/** For directories and statistics, which are told of songs only. */
export const songChanges: readonly Trigger[] = ['song_changed']
