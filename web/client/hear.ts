import { noteTime } from './clock.ts'
import type { Course } from './course.ts'
import { mergePatch } from './merge-patch.ts'
import { isData, type Message } from './message.ts'
import { end, lose, stay, type Step } from './moves.ts'

/** Takes what the server says over the present connection. */
export function hear(course: Course, message: Message, atMs: number, chance: number): Step {
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
