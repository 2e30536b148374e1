import type { Trigger } from '../model/station/triggers.ts'
import { deltaFormat, disconnectReasons, timeChannel, type DisconnectReason } from './protocol.ts'
import type { ServerFrames } from './vocabulary.ts'

/*
 * The frames of PROTOCOL.md as text. The now-playing document is inserted as JSON text and not parsed, so a
 * publication costs one concatenation.
 */

/** One frame in the encoding of each transport, encoded when first needed: many clients share one frame. */
export interface EncodedFrame {
  /** A WebSocket's text frame. */
  readonly bytes: Uint8Array
  /** An SSE block. */
  readonly block: () => Uint8Array
  /** A line of an HTTP stream. */
  readonly line: () => Uint8Array
}

export function encodeFrame(text: string): EncodedFrame {
  const bytes = Buffer.from(text)
  let block: Uint8Array | null = null
  let line: Uint8Array | null = null
  return {
    bytes,
    block: () => (block ??= Buffer.concat([dataField, bytes, blockEnd])),
    line: () => (line ??= Buffer.concat([bytes, lineEnd]))
  }
}

const dataField = Buffer.from('data: ')
const blockEnd = Buffer.from('\n\n')
const lineEnd = Buffer.from('\n')

/**
 * A station's state at one moment. `document` is the event rendering as JSON for `nowSeconds`. `staleSince`
 * (Unix seconds): since when it may be out of date.
 */
export interface DocumentSnapshot {
  readonly epoch: string
  readonly offset: number
  readonly document: string
  readonly nowSeconds: number
  readonly staleSince: number | null
}

export const pingFrame = encodeFrame('{}')

/** `entries`: each accepted channel with the text of `renderChannelEntry` or `emptyChannelEntry`. */
export function renderConnectFrame(connect: {
  client: string
  session: string
  pingSeconds: number
  nowMs: number
  entries: readonly (readonly [channel: string, entry: string])[]
}): string {
  const { client, session, pingSeconds, nowMs, entries } = connect
  const subs = entries.map(([channel, entry]) => `${JSON.stringify(channel)}:${entry}`).join()
  return (
    `{"connect":{"client":${JSON.stringify(client)},"version":"cuewire"` +
    (subs === '' ? '' : `,"subs":{${subs}}`) +
    `,"ping":${pingSeconds},"session":${JSON.stringify(session)},"time":${nowMs}}}`
  )
}

/** The entry of a channel without a state, and of `global:time`. */
export const emptyChannelEntry = '{}'

/** The options of the client. `isUpToDate`: it has the state. `heartbeatMs` 0: the usual interval. */
interface EntryOptions {
  readonly recover: boolean
  readonly isUpToDate: boolean
  readonly isDelta: boolean
  readonly heartbeatMs: number
}

/**
 * A channel's entry in the connect frame: with `recover` the state itself, or only the position where the
 * client has that state; without it the position.
 */
export function renderChannelEntry(
  snapshot: DocumentSnapshot,
  { recover, isUpToDate, isDelta, heartbeatMs }: EntryOptions
): string {
  const hasState = recover && !isUpToDate
  return (
    `{"recoverable":true,"epoch":${JSON.stringify(snapshot.epoch)}` +
    (hasState ? `,"publications":[${renderPublication(snapshot, [])}]` : '') +
    (recover ? ',"recovered":true' : '') +
    (hasState ? '' : offsetMember(snapshot.offset)) +
    ',"positioned":true' +
    (recover ? ',"was_recovering":true' : '') +
    (isDelta ? `,"delta":"${deltaFormat}"` : '') +
    (heartbeatMs > 0 ? `,"heartbeat":${heartbeatMs / 1_000}` : '') +
    '}'
  )
}

export function renderPublicationFrame(
  channel: string,
  snapshot: DocumentSnapshot,
  triggers: Iterable<Trigger>
): string {
  return `{"channel":${JSON.stringify(channel)},"pub":${renderPublication(snapshot, triggers)}}`
}

/** A publication as a delta: `patch` is a Merge Patch to the document, as JSON. */
export function renderDeltaFrame(
  channel: string,
  { patch, nowSeconds, offset }: { patch: string; nowSeconds: number; offset: number },
  triggers: Iterable<Trigger>
): string {
  const data = `{"np":${patch},"triggers":${JSON.stringify([...triggers])},"current_time":${nowSeconds}}`
  return `{"channel":${JSON.stringify(channel)},"pub":{"delta":${data}${offsetMember(offset)}}}`
}

export function renderTimeFrame(nowSeconds: number): string {
  const pub = { data: { time: nowSeconds }, offset: nowSeconds }
  return JSON.stringify({ channel: timeChannel, pub } satisfies ServerFrames['time'])
}

export function renderDisconnectFrame(ending: DisconnectReason): string {
  return JSON.stringify({ disconnect: disconnectReasons[ending] } satisfies ServerFrames['disconnect'])
}

function renderPublication(snapshot: DocumentSnapshot, triggers: Iterable<Trigger>): string {
  const { document, nowSeconds, offset, staleSince } = snapshot
  const stale = staleSince === null ? '' : `,"stale_since":${staleSince}`
  const data = `{"np":${document},"triggers":${JSON.stringify([...triggers])},"current_time":${nowSeconds}${stale}}`
  return `{"data":${data}${offsetMember(offset)}}`
}

/** Zero is left out. */
const offsetMember = (offset: number) => (offset === 0 ? '' : `,"offset":${offset}`)
