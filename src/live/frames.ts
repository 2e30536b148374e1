import type { Trigger } from '../station/triggers.ts'
import { endings, timeChannel, type Ending } from './protocol.ts'

/**
 * The frames of PROTOCOL.md as text. The now-playing document comes in as JSON text and is pasted, not parsed:
 * a publication costs one concatenation, whoever reads it.
 */

/** A station's state at one moment. `document` is the event rendering as JSON, true at `nowSeconds`. */
export interface Snapshot {
  readonly epoch: string
  readonly offset: number
  readonly document: string
  readonly nowSeconds: number
}

export const pingFrame = '{}'

/** `entries`: per accepted channel the text of one of the entries below. */
export function renderConnect(connect: {
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

/** The entry of a channel that has nothing to say yet, and of `global:time`. */
export const waitingEntry = '{}'

/** Asked with `recover`: the state inside the entry. */
export function renderRecovered(snapshot: Snapshot): string {
  const publication = renderPublication(snapshot, [])
  return `{"recoverable":true,"epoch":${JSON.stringify(snapshot.epoch)},"publications":[${publication}],"recovered":true,"positioned":true,"was_recovering":true}`
}

/** Asked with `recover` by a client that has this very state. */
export function renderUpToDate({ epoch, offset }: Snapshot): string {
  return `{"recoverable":true,"epoch":${JSON.stringify(epoch)},"recovered":true${offsetMember(offset)},"positioned":true,"was_recovering":true}`
}

/** Asked without `recover`: the position only. */
export function renderPositioned({ epoch, offset }: Snapshot): string {
  return `{"recoverable":true,"epoch":${JSON.stringify(epoch)}${offsetMember(offset)},"positioned":true}`
}

export function renderPub(channel: string, snapshot: Snapshot, triggers: Iterable<Trigger>): string {
  return `{"channel":${JSON.stringify(channel)},"pub":${renderPublication(snapshot, triggers)}}`
}

export function renderTime(nowSeconds: number): string {
  return `{"channel":"${timeChannel}","pub":{"data":{"time":${nowSeconds}},"offset":${nowSeconds}}}`
}

export function renderDisconnect(ending: Ending): string {
  return JSON.stringify({ disconnect: endings[ending] })
}

function renderPublication(snapshot: Snapshot, triggers: Iterable<Trigger>): string {
  const { document, nowSeconds, offset } = snapshot
  const data = `{"np":${document},"triggers":${JSON.stringify([...triggers])},"current_time":${nowSeconds}}`
  return `{"data":${data}${offsetMember(offset)}}`
}

/** Zero is left out, like everything that is zero, false or empty. */
function offsetMember(offset: number): string {
  return offset === 0 ? '' : `,"offset":${offset}`
}
