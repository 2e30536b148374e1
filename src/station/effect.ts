import type { Trigger } from './triggers.ts'

/** What must follow a change of the state. */
export type Effect = Publish | ScheduleAdvance

/** Tell the servers; `triggers` says which edges the change crossed, none for a plain update. */
export interface Publish {
  readonly type: 'publish'
  readonly triggers: readonly Trigger[]
}

/** End the play `shId` at `atMs` unless something ends it before. */
export interface ScheduleAdvance {
  readonly type: 'schedule-advance'
  readonly shId: number
  readonly atMs: number
}
