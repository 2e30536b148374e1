/** Parses client messages and defines how sessions end; see PROTOCOL.md. Pure. */

import type { SubscribeMessage, SubscribeOptions, Unchecked } from './vocabulary.ts'

/** Limits of the option `heartbeat`, in seconds. */
const [minHeartbeat, maxHeartbeat] = [15, 300]

/** Why a session ends: the code and reason of the disconnect frame and of the close frame. */
export const disconnectReasons = {
  shutdown: { code: 3001, reason: 'shutdown' },
  internal: { code: 3004, reason: 'internal server error' },
  tokenExpired: { code: 3005, reason: 'token expired' },
  slow: { code: 3008, reason: 'slow' },
  insufficientState: { code: 3010, reason: 'insufficient state' },
  stationFull: { code: 3013, reason: 'too many connections to a station' },
  badRequest: { code: 3501, reason: 'bad request' },
  badHeartbeat: {
    code: 3501,
    reason: `heartbeat must be an integer from ${minHeartbeat} to ${maxHeartbeat} (seconds)`
  },
  stale: { code: 3502, reason: 'stale' },
  channelLimit: { code: 3505, reason: 'channel limit' },
  tooManyMessages: { code: 3509, reason: 'too many messages' },
  tooBig: { code: 1009, reason: 'message too big' }
} as const

export type DisconnectReason = keyof typeof disconnectReasons

export const maxMessageBytes = 64 * 1024
const maxChannels = 128
const maxChannelBytes = 255
/** Messages per second of one WebSocket. */
export const maxMessageRate = 20
/** Channels that one client may name at once; `channelsPerSecond` are added every second. */
export const channelBurst = 2 * maxChannels
export const channelsPerSecond = 16

/**
 * A channel that a client subscribes to. `offset` 0 and `epoch` '' if the client has no state. `heartbeatMs` 0: the
 * usual interval.
 */
export type SubscriptionRequest = Readonly<ReturnType<typeof parseRequest>>

/** The client message. `requests` is null if it had no `subs`; `token` is empty if it had none. */
export interface SubscribeRequest {
  readonly requests: readonly SubscriptionRequest[] | null
  readonly token: string
}

/** Parses the subscribe message; returns how the session has to end if it is invalid. Never throws. */
export function parseSubscribeMessage(text: string): SubscribeRequest | DisconnectReason {
  if (Buffer.byteLength(text) > maxMessageBytes) return 'tooBig'
  const message: Unchecked<SubscribeMessage> | null = parseObject(text)
  if (message === null) return 'badRequest'
  const token = typeof message.token === 'string' ? message.token : ''
  const subs = Object.hasOwn(message, 'subs') ? (message.subs ?? {}) : null
  if (subs === null) return { requests: null, token }
  if (typeof subs !== 'object' || Array.isArray(subs)) return 'badRequest'
  const entries = Object.entries(subs)
  if (entries.length > maxChannels) return 'channelLimit'
  if (entries.some(([channel]) => Buffer.byteLength(channel) > maxChannelBytes)) return 'badRequest'
  const requests = entries.map(([channel, options]) => parseRequest(channel, options))
  if (requests.some(({ heartbeatMs }) => Number.isNaN(heartbeatMs))) return 'badHeartbeat'
  return { requests, token }
}

export const timeChannel = 'global:time'

/** The only format of deltas: RFC 7396. */
export const deltaFormat = 'merge-patch'

/** The id or short name in a channel's name; null if it is not a station's. */
export function parseStationChannel(channel: string): string | null {
  return channel.startsWith(stationPrefix) ? channel.slice(stationPrefix.length) : null
}

const stationPrefix = 'station:'

/** The channel of an id or a short name. */
export const stationChannelName = (idOrName: string | number): string => `${stationPrefix}${idOrName}`

/** Returns the milliseconds of the query parameter `delay`: 0 if missing, null if not 0 to 60 seconds. */
export function parseDelay(text: string | null): number | null {
  if (text === null || text === '') return 0
  const seconds = /^\d{1,2}(\.\d{1,3})?$/.test(text) ? Number(text) : NaN
  return seconds <= 60 ? Math.round(seconds * 1000) : null
}

function parseObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text) ?? {}
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}

const isOffset = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0

/** Returns milliseconds; 0 if absent, NaN if out of range. */
function parseHeartbeat(seconds: unknown): number {
  if (seconds === undefined || seconds === null) return 0
  const isInRange =
    Number.isInteger(seconds) && Number(seconds) >= minHeartbeat && Number(seconds) <= maxHeartbeat
  return isInRange ? Number(seconds) * 1_000 : NaN
}

function parseRequest(channel: string, options: unknown) {
  const given: Unchecked<SubscribeOptions> = typeof options === 'object' && options !== null ? options : {}
  return {
    channel,
    recover: given.recover === true,
    delta: given.delta === deltaFormat,
    heartbeatMs: parseHeartbeat(given.heartbeat),
    offset: isOffset(given.offset) ? given.offset : 0,
    epoch: typeof given.epoch === 'string' ? given.epoch : ''
  }
}
