import { afterJump } from './clock.ts'
import type { Course } from './course.ts'
import { hear } from './hear.ts'
import type { Message } from './message.ts'
import { dueAtMs, end, type End, lose, open, stay, type Step } from './moves.ts'

/** What happens. */
export type Input =
  | { readonly type: 'message'; readonly connection: number; readonly message: Message }
  /** The connection ended by itself. */
  | ({ readonly type: 'ended'; readonly connection: number } & End)
  /** It is time to look. */
  | { readonly type: 'timer' }
  /** The page is looked at again, or the network is back. */
  | { readonly type: 'woken' }
  /** The machine slept, or its clock was set forward. */
  | { readonly type: 'jumped'; readonly byMs: number }
  /** There is no network. */
  | { readonly type: 'cut' }
  | { readonly type: 'closed' }

/**
 * One step of following a station. `chance` is a random number from 0 to 1: clients that lost the same server must not
 * come back together. What changes nothing gives the same course.
 */
export function step(course: Course, input: Input, atMs: number, chance: number): Step {
  const { phase } = course
  if (phase.type === 'over') return stay(course)
  const isDue = atMs >= dueAtMs(course)
  switch (input.type) {
    case 'message':
      return isPresent(course, input) ? hear(course, input.message, atMs, chance) : stay(course)
    case 'ended':
      return isPresent(course, input) ? lose(course, atMs, chance, input) : stay(course)
    case 'timer':
      if (!isDue) return stay(course)
      return phase.type === 'waiting' ? open(course, phase.order, atMs) : lose(course, atMs, chance)
    case 'woken':
      if (phase.type === 'waiting') return open(course, phase.order, atMs)
      // A connection seldom survives the sleep of a machine.
      return isDue && phase.type === 'open' ? open(course, course.ways, atMs) : stay(course)
    case 'jumped': {
      const clock = afterJump(course.clock, input.byMs)
      return open({ ...course, clock }, phase.type === 'waiting' ? phase.order : course.ways, atMs)
    }
    case 'cut':
      return phase.type === 'open' ? lose(course, atMs, chance) : stay(course)
    case 'closed':
      return end(course, 'closed')
    default:
      return input satisfies never
  }
}

/** Whether something is of the present connection, and not of one that was given up. */
const isPresent = ({ connection, phase }: Course, input: { readonly connection: number }) =>
  input.connection === connection && phase.type !== 'waiting'
