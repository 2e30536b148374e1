import { BlockList } from 'node:net'

import { pino } from 'pino'

import { openStationRenderer } from '../../src/model/station/renderer.ts'
import type { StationState } from '../../src/model/station/state.ts'
import type { Trigger } from '../../src/model/station/triggers.ts'
import { openStationFaults } from '../../src/platform/isolation/station-faults.ts'
import { engineTimeMs } from '../../src/platform/runtime/engine-time.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { type DeliveryDeps, openHostLimits } from '../../src/webhooks/deliveries/deliver.ts'
import { openOutbox } from '../../src/webhooks/outbox.ts'
import { filterHookTriggers } from '../../src/webhooks/types/hook-types.ts'
import { aStation } from './builders.ts'

/** Stores secrets in plain text. */
const openSeals = { seal: (text: string) => text, open: (sealed: string) => sealed }

/** The dependencies of a delivering process, which may connect to this machine. */
export function deliveryDeps(sql: Sql, given: Partial<DeliveryDeps> = {}): DeliveryDeps {
  const log = pino({ level: 'silent' })
  const allowed = new BlockList()
  allowed.addSubnet('127.0.0.0', 8, 'ipv4')
  return {
    sql,
    log,
    stationFaults: openStationFaults(log),
    secrets: openSeals,
    renderer: openStationRenderer('documented', 'https://radio.example'),
    allowed,
    mailer: null,
    hosts: openHostLimits(),
    leases: new Map(),
    ...given
  }
}

export interface HookShape {
  readonly type?: string
  readonly triggers?: readonly Trigger[]
  readonly config: Readonly<Record<string, string | number | boolean>>
  readonly name?: string
}

/** Inserts a web hook. Returns its id. */
export async function seedHook(
  sql: Sql,
  stationId: number,
  { type = 'generic', triggers = [], config, name = '' }: HookShape
): Promise<number> {
  const named = Object.entries(config).map(([key, value]) => ({ key, value }))
  const [row] = await sql<{ id: number }[]>`
    insert into webhooks (station_id, type, name, triggers, config)
    values (${stationId}, ${type}, ${name}, ${sql.json([...triggers])}, ${sql.json(named)}) returning id`
  return row?.id ?? 0
}

/** The state of a station that plays the song `shId`. */
export function stateOf(stationId: number, shId: number): StationState {
  const song = {
    id: '0'.repeat(32),
    artist: 'Artist',
    title: `Title ${shId}`,
    album: '',
    genre: '',
    isrc: '',
    lyrics: '',
    artId: '',
    customFields: {}
  }
  const play = {
    shId,
    startedAtMs: 1_767_950_000_000,
    durationMs: 180_000,
    playlist: 'Rotation',
    streamer: '',
    isRequest: false,
    song
  }
  return aStation({
    stationId,
    epoch: 'test',
    revisions: { station: 0, playback: 1, queue: 1, listeners: 0, live: 0 },
    shown: play,
    current: { shId, dueAtMs: null, isVisible: true }
  })
}

/** Writes a song change for each id, in order. */
export async function raiseSongs(
  sql: Sql,
  stationId: number,
  shIds: readonly number[],
  triggers: readonly Trigger[] = ['song_changed']
): Promise<void> {
  for (const shId of shIds)
    await sql.begin(tx =>
      openOutbox(filterHookTriggers).writeEvent(tx, stateOf(stationId, shId), {
        fact: `song:${shId}`,
        triggers,
        // The time that deliveries go by, which may be a few milliseconds behind the clock.
        happenedAtMs: engineTimeMs()
      })
    )
}

/** Reads the deliveries of a web hook in the order of events. */
export function readDeliveries(sql: Sql, webhookId: number) {
  return sql<
    {
      id: number
      messageId: string
      state: string
      attempts: number
      nextAttemptMs: number | null
      triggers: string[]
    }[]
  >`
    select id, message_id as "messageId", state, attempts, next_attempt_ms as "nextAttemptMs", triggers
    from webhook_deliveries where webhook_id = ${webhookId} order by event_id, id`
}

/** Reads the attempts of a web hook, oldest first. */
export function readAttempts(sql: Sql, webhookId: number) {
  return sql<
    { attempt: number; status: number; error: string; url: string; response: string; durationMs: number }[]
  >`
    select a.attempt, a.status, a.error, a.url, a.response, a.duration_ms as "durationMs"
    from webhook_attempts a join webhook_deliveries d on d.id = a.delivery_id
    where d.webhook_id = ${webhookId} order by a.id`
}

/** Makes all pending deliveries of a web hook due. */
export async function bringForward(sql: Sql, webhookId: number): Promise<void> {
  await sql`update webhook_deliveries set next_attempt_ms = 1 where webhook_id = ${webhookId} and state = 'pending'`
  await sql`update webhooks set paused_until_ms = 0 where id = ${webhookId}`
}
