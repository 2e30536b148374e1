import { createHash } from 'node:crypto'

import type { Tx } from '../db/sql.ts'
import type { StationSnapshot, StationState } from '../station/state.ts'
import type { Trigger } from '../station/triggers.ts'
import { type Config, isDraft } from './config.ts'
import { hookTypeOf } from './types/hook-types.ts'

/** Something that happened at a station. */
export interface Fact {
  /** What it is, the same however often it is written down: `song:42`. */
  readonly fact: string
  readonly triggers: readonly Trigger[]
  readonly happenedAtMs: number
}

/** What of a hook decides whether it is told. */
export interface AskingHook {
  readonly id: number
  readonly type: string
  readonly triggers: readonly Trigger[]
  readonly config: Config
}

/**
 * Of the triggers of a fact those that a hook is told of: what it asks for, all that its type allows where it asks for
 * nothing. None for a draft and for a service that is gone.
 */
export function triggersFor(hook: AskingHook, raised: readonly Trigger[]): Trigger[] {
  const type = hookTypeOf(hook.type)
  if (type.isRetired || isDraft(type, hook.config)) return []
  const asked = hook.triggers.length > 0 ? hook.triggers : type.triggers
  return raised.filter(trigger => asked.includes(trigger) && type.triggers.includes(trigger))
}

/**
 * Writes a fact into the outbox of every hook that is to be told of it, as part of the transaction that records it.
 * Gives these hooks; none where it is written down already. A hook that is being deleted is waited for.
 */
export async function writeEvent(
  tx: Tx,
  snapshot: StationSnapshot,
  { fact, triggers, happenedAtMs }: Fact
): Promise<number[]> {
  const { stationId } = snapshot
  const state: StationState = { ...snapshot, offset: 0 }
  const hooks = await tx<AskingHook[]>`
    select id, type, triggers, config from webhooks where station_id = ${stationId} and is_enabled order by id
    for key share`
  const told = hooks
    .map(hook => ({ id: hook.id, triggers: triggersFor(hook, triggers) }))
    .filter(hook => hook.triggers.length > 0)
  if (told.length === 0) return []
  const deliveries = told.map(({ id, triggers: asked }) => ({
    hook: id,
    message: messageId({ stationId, fact, happenedAtMs, webhookId: id }),
    triggers: asked
  }))
  const rows = await tx<{ id: number }[]>`
    with event as (
      insert into webhook_events (station_id, fact, happened_at_ms, state)
      values (${stationId}, ${fact}, ${happenedAtMs}, ${JSON.stringify(state)}::text::json)
      on conflict (station_id, fact) do nothing returning id
    )
    insert into webhook_deliveries (webhook_id, event_id, message_id, triggers, happened_at_ms, next_attempt_ms)
    select x.hook, event.id, x.message, array(select jsonb_array_elements_text(x.triggers)), ${happenedAtMs}, ${happenedAtMs}
    from event, jsonb_to_recordset(${tx.json(deliveries)}) as x (hook bigint, message text, triggers jsonb)
    on conflict (webhook_id, message_id) do nothing returning webhook_id as id`
  return rows.map(({ id }) => id)
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
const characters = 26

/** Something that happened at a station, and who is told. */
interface ToldFact {
  readonly stationId: number
  readonly fact: string
  /** Unix milliseconds. */
  readonly happenedAtMs: number
  readonly webhookId: number
}

/**
 * `webhook-id`: one for a fact and a hook, however often it is sent. A fact has another one if a database that was restored from a
 * backup uses its name again. `evt_` and 26 characters of base32 (RFC 4648, in lower case), which are 130 bits of a hash.
 */
export function messageId({ stationId, fact, happenedAtMs, webhookId }: ToldFact): string {
  const told = `${stationId}\n${fact}\n${happenedAtMs}\n${webhookId}`
  const hash = createHash('sha256').update(told).digest()
  let bits = 0n
  for (const byte of hash.subarray(0, 17)) bits = bits * 256n + BigInt(byte)
  bits >>= 6n
  let text = ''
  for (let place = 0; place < characters; place++, bits >>= 5n)
    text = alphabet.charAt(Number(bits & 31n)) + text
  return `evt_${text}`
}
