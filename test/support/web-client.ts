import { openLiveStation } from '../../src/live/feed/live-station.ts'
import type { StationState } from '../../src/station/state.ts'
import { defaultStaleAfterMs, statusAt } from '../../web/client/client.ts'
import { type Course, startCourse } from '../../web/client/course.ts'
import type { NowPlaying } from '../../web/client/interface.ts'
import type { Message } from '../../web/client/message.ts'
import type { Effect } from '../../web/client/moves.ts'
import { type Input, step } from '../../web/client/step.ts'
import { aStation } from './builders.ts'

/** The document of a station as it is pushed, true at `nowSeconds`. */
export function documentOf(
  state: StationState = aStation(),
  nowSeconds: number = Math.floor(Date.now() / 1_000)
): NowPlaying {
  const text = openLiveStation(state, 'https://radio.example.com').eventText(nowSeconds)
  const document: NowPlaying = JSON.parse(text)
  return document
}

/** A whole publication. */
export const published = (np: NowPlaying, offset = 1, epoch: string | null = null): Message => ({
  type: 'published',
  data: { np },
  isPatch: false,
  offset,
  epoch
})

export const connected = (epoch = 'e1', upTo: number | null = null): Message => ({
  type: 'connected',
  epoch,
  upTo,
  timeMs: null
})

/** A course that is taken step by step, at times and with chances of the test's choice. */
export function openCourse(parts: Partial<Parameters<typeof startCourse>[2]> = {}) {
  let course: Course = startCourse(['websocket', 'sse', 'poll'], 0, {
    staleAfterMs: defaultStaleAfterMs,
    ...parts
  })
  return {
    get course() {
      return course
    },
    status: (atMs: number) => statusAt(course, atMs).status,
    take: (input: Input, atMs: number, chance = 1): readonly Effect[] => {
      const next = step(course, input, atMs, chance)
      course = next.course
      return next.effects
    },
    /** A message over the present connection. */
    hear: (message: Message, atMs: number, chance = 1): readonly Effect[] => {
      const next = step(course, { type: 'message', connection: course.connection, message }, atMs, chance)
      course = next.course
      return next.effects
    },
    /** The present connection ends by itself. */
    end: (atMs: number, code?: number, chance = 1): readonly Effect[] => {
      const ended = {
        type: 'ended',
        connection: course.connection,
        ...(code === undefined ? {} : { code })
      } as const
      const next = step(course, ended, atMs, chance)
      course = next.course
      return next.effects
    }
  }
}
