import { LiveStation } from '../../src/live/feed/live-station.ts'
import type { StationState } from '../../src/model/station/state.ts'
import {
  defaultStaleAfterMs,
  type FollowState,
  initialFollowState,
  followStatusAt
} from '../../web/client/follow-state.ts'
import {
  type ConnectionEnd,
  type ConnectionEffect,
  type FollowInput,
  applyFollowInput
} from '../../web/client/follow-step.ts'
import type { NowPlaying } from '../../web/client/interface.ts'
import type { ServerMessage } from '../../web/client/message.ts'
import { aStation, documented } from './builders.ts'

/** The now-playing document of a station as it is pushed at `nowSeconds`. */
export function renderDocument(
  state: StationState = aStation(),
  nowSeconds: number = Math.floor(Date.now() / 1_000)
): NowPlaying {
  return JSON.parse(LiveStation.of(state, documented).eventText(nowSeconds))
}

export const publication = (np: NowPlaying, offset = 1, epoch: string | null = null): ServerMessage => ({
  type: 'publication',
  data: { np },
  isDelta: false,
  offset,
  epoch
})

export const connectMessage = (epoch = 'e1', upTo: number | null = null): ServerMessage => ({
  type: 'connect',
  epoch,
  upTo,
  timeMs: null
})

/** Drives the steps of a client with times and random numbers that the test chooses. */
export function openDriver(options: Partial<Parameters<typeof initialFollowState>[2]> = {}) {
  let state: FollowState = initialFollowState(['websocket', 'sse', 'poll'], 0, {
    staleAfterMs: defaultStaleAfterMs,
    ...options
  })

  function take(input: FollowInput, atMs: number, random = 1): ConnectionEffect | null {
    const next = applyFollowInput(state, input, atMs, random)
    state = next.state
    return next.effect
  }

  return {
    get state() {
      return state
    },
    status: (atMs: number) => followStatusAt(state, atMs).status,
    take,
    /** Receives a message over the current connection. */
    receive: (message: ServerMessage, atMs: number, random?: number) =>
      take({ type: 'message', connection: state.connection, message }, atMs, random),
    /** Ends the current connection. */
    end: (atMs: number, end: ConnectionEnd = {}) =>
      take({ type: 'ended', connection: state.connection, ...end }, atMs)
  }
}
