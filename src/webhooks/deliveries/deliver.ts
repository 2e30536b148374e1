import pLimit, { type LimitFunction } from 'p-limit'

import type { Sql } from '../../db/sql.ts'
import { engineTimeMs } from '../../runtime/engine-time.ts'
import type { Logger } from '../../runtime/log.ts'
import type { Seals } from '../config.ts'
import { nowPlayingAt } from '../format/now-playing-body.ts'
import {
  cancelDeliveries,
  endDeliveries,
  acquireHook,
  cancelDelivery,
  readLeasedHook,
  readPending,
  readDeliveryEvent,
  recordAttempt,
  releaseHook
} from './deliveries.ts'
import { nextDelivery, type RetryPolicy } from './next-delivery.ts'
import { prepare } from './prepare.ts'
import { hostOfSending, sendRequest, type SendParts } from './send.ts'

/** What a process needs to deliver. */
export interface DeliveryParts extends SendParts {
  readonly sql: Sql
  readonly log: Logger
  readonly secrets: Pick<Seals, 'open'>
  readonly baseUrl: string
  readonly hosts: HostSlots
  /** Names the process, so that what it holds can be told from what others hold. */
  readonly holder: string
  /** The hooks that it holds. */
  readonly held: Set<number>
}

/** Deliveries of one web hook before others are handled. */
const deliveriesAtOnce = 20
const crowdedMs = 400

/**
 * Delivers what is due for a web hook, in order. Returns when it has to be checked again (Unix milliseconds);
 * null if nothing is pending, or another process has the lease. Stops between two deliveries once `stopping`
 * returns true.
 */
export async function deliver(
  parts: DeliveryParts,
  webhookId: number,
  stopping: () => boolean = () => false
): Promise<number | null> {
  const { sql, holder, held } = parts
  if (!(await acquireHook(sql, webhookId, holder, engineTimeMs()))) return null
  held.add(webhookId)
  try {
    for (let made = 0; made < deliveriesAtOnce && !stopping(); made++) {
      const step = await deliverNext(parts, webhookId)
      if (step !== 'delivered') return step.lookAtMs
    }
    return engineTimeMs()
  } finally {
    held.delete(webhookId)
    await releaseHook(sql, webhookId, holder)
  }
}

async function deliverNext(
  parts: DeliveryParts,
  webhookId: number
): Promise<'delivered' | { lookAtMs: number | null }> {
  const { sql } = parts
  const nowMs = engineTimeMs()
  const [hook, pending] = await Promise.all([
    readLeasedHook(sql, webhookId, parts.holder),
    readPending(sql, webhookId)
  ])
  if (!hook) return { lookAtMs: null }
  if (!hook.isEnabled) {
    await cancelDeliveries(sql, hook.id, nowMs)
    return { lookAtMs: null }
  }
  const next = nextDelivery(pending, { ...hook, patience: retryPolicyOf(hook.type) }, nowMs)
  await endDeliveries(sql, next, nowMs)
  if (!next.send) return { lookAtMs: next.lookAtMs }
  const { id, triggers } = next.send
  const told = await readDeliveryEvent(sql, id)
  if (!told) return 'delivered'
  const { messageId, happenedAtMs } = told
  const event = {
    id: messageId,
    triggers,
    happenedAt: Math.floor(happenedAtMs / 1000),
    nowPlaying: nowPlayingAt(told.state, happenedAtMs, parts.baseUrl)
  }
  const { sending, secrets } = prepare(parts.secrets, hook, event, nowMs)
  if (sending.kind === 'nothing') {
    await cancelDelivery(sql, id, sending.reason, nowMs)
    return 'delivered'
  }
  const host = hostOfSending(sending)
  if (parts.hosts.isCrowded(host)) return { lookAtMs: nowMs + crowdedMs }
  const attempted = await parts.hosts.run(host, () => sendRequest(sending, messageId, secrets, parts))
  const delivery = { id, attempt: told.attempts + 1 }
  if (await recordAttempt(sql, hook, delivery, attempted, Math.random()))
    parts.log.warn({ hook: hook.id, station: hook.stationId }, 'web hook disabled')
  return 'delivered'
}

const newest = new Set([
  'tunein',
  'radiode',
  'radioreg',
  'getmeradio',
  'google_analytics_v4',
  'matomo_analytics'
])
const every = new Set(['generic', 'email'])

/** Directories need the current song only, people events that are recent. */
function retryPolicyOf(type: string): RetryPolicy {
  if (newest.has(type)) return 'newest'
  return every.has(type) ? 'every' : 'hour'
}

const atOnce = 4
const waitingAtMost = 200

/** Limits the requests of this process in flight to one host. */
export class HostSlots {
  readonly #limits = new Map<string, LimitFunction>()

  /** Whether so many wait for a host that one more should come back later. */
  isCrowded(host: string): boolean {
    return (this.#limits.get(host)?.pendingCount ?? 0) >= waitingAtMost
  }

  /** Runs `work` once one of the host's slots is free. */
  async run<Result>(host: string, work: () => Promise<Result>): Promise<Result> {
    const limit = this.#limits.get(host) ?? pLimit(atOnce)
    this.#limits.set(host, limit)
    try {
      return await limit(work)
    } finally {
      if (limit.activeCount + limit.pendingCount === 0) this.#limits.delete(host)
    }
  }
}
