import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'

import type { JsonObject } from '../../src/live/deltas.ts'
import type { ChannelEntry, ConnectPayload as ConnectReply, ServerFrames } from '../../src/live/vocabulary.ts'
import { frameKind, type FrameOf } from './live-frames.ts'

/** A frame with a publication or, if the subscription has deltas, a delta instead of `data`. */
export interface Publication {
  readonly channel: string
  readonly pub: FrameOf<'pub'>['pub'] & { readonly delta?: JsonObject }
}

/** A connect frame whose publications have typed documents. */
export interface Connect {
  readonly connect: Omit<ConnectReply, 'subs'> & {
    readonly subs?: Readonly<
      Record<
        string,
        Omit<ChannelEntry, 'publications'> & { readonly publications?: readonly FrameOf<'pub'>['pub'][] }
      >
    >
  }
}

/** A client that collects all frames. It is closed when the test ends. */
export interface LiveClient {
  readonly socket: WebSocket
  /** The received frames that `until` has not taken. */
  readonly frames: unknown[]
  /** Takes frames until one fits. Throws after 5 seconds. */
  readonly until: <Frame>(fits: (frame: unknown) => frame is Frame) => Promise<Frame>
  /** The code and reason of the close frame. */
  readonly closed: Promise<{ code: number; reason: string }>
}

export function connectLive(url: string, headers: Record<string, string> = {}): LiveClient {
  const socket = new WebSocket(url, { perMessageDeflate: false, headers })
  const frames: unknown[] = []
  let wake: (() => void) | null = null
  socket.on('message', data => {
    if (Buffer.isBuffer(data)) frames.push(JSON.parse(data.toString()))
    wake?.()
  })
  socket.on('error', () => {})
  const closed = new Promise<{ code: number; reason: string }>(resolve => {
    socket.on('close', (code, reason) => {
      resolve({ code, reason: String(reason) })
      wake?.()
    })
  })
  onTestFinished(() => socket.terminate())

  async function until<Frame>(fits: (frame: unknown) => frame is Frame): Promise<Frame> {
    const deadline = AbortSignal.timeout(5_000)
    const seen: unknown[] = []
    for (;;) {
      while (frames.length > 0) {
        const frame = frames.shift()
        if (fits(frame)) return frame
        seen.push(frame)
      }
      if (deadline.aborted || socket.readyState === WebSocket.CLOSED)
        throw new Error(`no such frame; received ${JSON.stringify(seen).slice(0, 2_000)}`)
      await new Promise<void>(resolve => {
        wake = resolve
        deadline.addEventListener('abort', () => resolve(), { once: true })
      })
    }
  }
  return { socket, frames, until, closed }
}

/** Connects and subscribes. Returns the client with its connect frame. */
export async function subscribeLive(url: string, message: unknown, headers: Record<string, string> = {}) {
  const client = connectLive(url, headers)
  client.socket.once('open', () => client.socket.send(JSON.stringify(message)))
  const { connect } = await client.until(isConnect)
  return { ...client, connect }
}

export const isConnect = (frame: unknown): frame is Connect => frameKind(frame) === 'connect'
export const isPub = (frame: unknown): frame is Publication => ['pub', 'delta'].includes(frameKind(frame))
export const isTime = (frame: unknown): frame is ServerFrames['time'] => frameKind(frame) === 'time'
export const isDisconnect = (frame: unknown): frame is ServerFrames['disconnect'] =>
  frameKind(frame) === 'disconnect'
export const isPing = (frame: unknown): frame is ServerFrames['ping'] => JSON.stringify(frame) === '{}'
