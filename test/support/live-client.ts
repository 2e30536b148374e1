import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'

import type { JsonObject } from '../../src/live/deltas.ts'

/** A publication as a player sees it. */
export interface Publication {
  readonly channel: string
  readonly pub: {
    readonly offset: number
    /** Instead of `data`, for those who asked for it. */
    readonly delta?: JsonObject
    readonly data: {
      readonly triggers: readonly string[]
      readonly current_time: number
      readonly np: {
        readonly station: { readonly id: number; readonly shortcode: string }
        readonly now_playing: {
          readonly sh_id: number
          readonly elapsed: number
          readonly song: { readonly title: string }
        }
      }
    }
  }
}

/** A client that keeps every frame from the first one on. It is closed when the test ends. */
export interface LiveClient {
  readonly socket: WebSocket
  /** Everything that came and was not taken yet. */
  readonly frames: unknown[]
  /** Takes frames until one fits; throws if none does within 5 seconds. */
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
        throw new Error(`no such frame; there were ${JSON.stringify(seen).slice(0, 2_000)}`)
      await new Promise<void>(resolve => {
        wake = resolve
        deadline.addEventListener('abort', () => resolve(), { once: true })
      })
    }
  }
  return { socket, frames, until, closed }
}

/** Connects, subscribes and gives the client together with its connect frame. */
export async function subscribeLive(url: string, message: unknown, headers: Record<string, string> = {}) {
  const client = connectLive(url, headers)
  client.socket.once('open', () => client.socket.send(JSON.stringify(message)))
  const { connect } = await client.until(isConnect)
  return { ...client, connect }
}

/** The connect frame as a player sees it. */
export interface Connect {
  readonly connect: {
    readonly ping: number
    readonly time: number
    readonly subs?: Record<
      string,
      {
        readonly epoch?: string
        readonly offset?: number
        readonly publications?: readonly Publication['pub'][]
        readonly recovered?: boolean
        readonly delta?: string
      }
    >
  }
}

export const isConnect = (frame: unknown): frame is Connect => has(frame, 'connect')
export const isPub = (frame: unknown): frame is Publication =>
  has(frame, 'pub') && !has(frame, 'channel', 'global:time')
export const isTime = (frame: unknown): frame is { pub: { data: { time: number } } } =>
  has(frame, 'channel', 'global:time')
export const isDisconnect = (frame: unknown): frame is { disconnect: { code: number; reason: string } } =>
  has(frame, 'disconnect')
export const isPing = (frame: unknown): frame is Record<string, never> => JSON.stringify(frame) === '{}'

function has(frame: unknown, key: string, value?: unknown): boolean {
  if (typeof frame !== 'object' || frame === null || !Object.hasOwn(frame, key)) return false
  return value === undefined || Object.entries(frame).some(([name, found]) => name === key && found === value)
}
