import { afterJump, type Course, noteTime } from './course.ts'
import { isData, mergePatch, type Message } from './message.ts'
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
 * One step of following a station. `chance` is a random number from 0 to 1: clients that lost the same server
 * must not come back together. What changes nothing gives the same course.
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

/** Takes what the server says over the present connection. */
function hear(course: Course, message: Message, atMs: number, chance: number): Step {
  switch (message.type) {
    case 'timed':
      return stay(withTime(course, message.timeMs, atMs, false))
    case 'pinged':
      // A ping shows that the server is there, not that the station is.
      return stay(course.phase.type === 'open' ? opened(course, atMs) : course)
    case 'connected':
      return stay(connect(course, message, atMs))
    case 'missing': {
      const there = withTime(greeted(course, atMs), message.timeMs, atMs, true)
      return stay({ ...there, isMissing: true, document: null, epoch: '', newsAtMs: null })
    }
    case 'confirmed':
      return stay({ ...greeted(course, atMs), base: course.base, newsAtMs: atMs })
    case 'published':
      return publish(course, message, atMs, chance)
    case 'dismissed': {
      const isFinal = message.code >= 3500 && message.code < 4000
      return isFinal ? end(course, 'refused') : lose(course, atMs, chance, message)
    }
    case 'garbled':
      return lose(course, atMs, chance)
    default:
      return message satisfies never
  }
}

/** The connection is open, and was heard of just now. */
function opened(course: Course, atMs: number): Course {
  const { phase } = course
  if (phase.type === 'waiting' || phase.type === 'over') return course
  const sinceMs = phase.type === 'open' ? phase.sinceMs : atMs
  return { ...course, phase: { type: 'open', way: phase.way, sinceMs, heardAtMs: atMs } }
}

/** Somebody is there who tells news. */
function greeted(course: Course, atMs: number): Course {
  return { ...opened(course, atMs), aloneSinceMs: null, isMissing: false, isDoubtful: false, base: null }
}

function connect(
  course: Course,
  { epoch, upTo, timeMs }: Extract<Message, { readonly type: 'connected' }>,
  atMs: number
): Course {
  const { document } = course
  const isCurrent = document !== null && document.epoch === epoch && document.offset === upTo
  const there = { ...withTime(greeted(course, atMs), timeMs, atMs, true), epoch }
  return isCurrent ? { ...there, newsAtMs: atMs } : there
}

function publish(
  course: Course,
  { data: sent, isPatch, offset, epoch: named }: Extract<Message, { readonly type: 'published' }>,
  atMs: number,
  chance: number
): Step {
  if (isPatch && course.base === null) return lose(course, atMs, chance)
  const data = isPatch ? mergePatch(course.base, sent) : sent
  if (!isData(data)) return lose(course, atMs, chance)
  const epoch = named ?? course.epoch
  const { document } = course
  const there: Course = { ...greeted(course, atMs), epoch, base: data }
  // Another server may be behind the one that was heard before.
  if (document !== null && document.epoch === epoch && document.offset > offset) return stay(there)
  const timed = withTime(
    there,
    data.current_time === undefined ? null : data.current_time * 1_000,
    atMs,
    false
  )
  const told: Course = { ...timed, document: { np: data.np, epoch, offset } }
  const { stale_since: staleSince } = data
  if (staleSince === undefined) return stay({ ...told, newsAtMs: atMs })
  const trueAtMs = Math.min(atMs, staleSince * 1_000 - (told.clock.aheadMs ?? 0))
  return stay({ ...told, newsAtMs: trueAtMs, isDoubtful: true })
}

function withTime(course: Course, timeMs: number | null, atMs: number, isExact: boolean): Course {
  return timeMs === null ? course : { ...course, clock: noteTime(course.clock, timeMs, atMs, isExact) }
}
