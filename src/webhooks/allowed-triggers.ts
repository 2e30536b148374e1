import { type Trigger, triggers } from '../station/triggers.ts'

export const everyTrigger: readonly Trigger[] = triggers

/** For chat services: a message for each listener would be noise. */
export const withoutListeners: readonly Trigger[] = triggers.filter(
  trigger => !trigger.startsWith('listener_')
)

/** For directories and statistics, which only take songs. */
export const songChanges: readonly Trigger[] = ['song_changed']
