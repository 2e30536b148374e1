import { setTimeout as sleep } from 'node:timers/promises'

import postgres from 'postgres'

import type { CuewireProcess } from './cuewire-process.ts'
import { trueTime } from './fake-clock.ts'
import { type Fault, type FaultKind, pick } from './plan.ts'
import type { Rig } from './rig.ts'
import { uploadUnderKill } from './uploads-under-kill.ts'
import type { Violation } from './violation.ts'

const recoveryMs = 5_000
const halfOpenRecoveryMs = 15_000
/** The time for the stores to start after the disk was full. */
const storeStartMs = 10_000

/** How long the effects of a fault may last after its end, in milliseconds. */
export function recoveryMsOf(kind: FaultKind): number {
  if (kind === 'half-open-store') return halfOpenRecoveryMs
  return recoveryMs
}

/** Kinds during which a process may fail to start because a store is down. */
export const stopsStores: ReadonlySet<FaultKind> = new Set([
  'kill-postgres',
  'kill-redis',
  'pause-postgres',
  'pause-redis',
  'restore-redis',
  'promote-replica',
  'failover-redis',
  'cut-store',
  'half-open-store',
  'disk-full'
])

/** Kinds after which stations may have a new epoch, because Redis lost or restored data. */
export const mayStartEpochs: ReadonlySet<FaultKind> = new Set([
  'flush-redis',
  'restore-redis',
  'promote-replica',
  'failover-redis',
  'kill-redis',
  'disk-full'
])

/**
 * Kinds that must not delay plays: the engine uses the time of Postgres, and other processes and connections
 * take over at once.
 */
export const keepsPlaysOnTime: ReadonlySet<FaultKind> = new Set([
  'kill-server',
  'kill-uploads',
  'clock-forward',
  'clock-back',
  'clock-drift',
  'clock-kill',
  'other-release'
])

/** What is written into the rows of a station, so that each change or plan of it fails. */
const poisons = ['zone', 'schedule', 'setting'] as const

/** The station that a fault affects; null if it affects all. */
export async function findAffectedStation({ sql }: Rig, { kind, share }: Fault): Promise<number | null> {
  if (kind !== 'poisoned-station') return null
  const rows = await sql<{ id: number }[]>`select id from stations where backend = 'clock' order by id`
  return pick(() => share, rows).id
}

/** Poisons a station. Returns the function that restores it. */
async function poison({ sql }: Rig, stationId: number, share: number): Promise<() => Promise<unknown>> {
  // Another digit of the share than that which chooses the station.
  const kind = pick(() => (share * 1_000) % 1, poisons)
  if (kind === 'schedule') {
    const before = await sql<{ id: number; items: string }[]>`
      select id, schedule_items::text as items from playlists where station_id = ${stationId}`
    await sql`update playlists set schedule_items = '[null]' where station_id = ${stationId}`
    return () =>
      sql`update playlists p set schedule_items = x.items::jsonb
        from unnest(${before.map(({ id }) => id)}::bigint[], ${before.map(({ items }) => items)}::text[]) as x (id, items)
        where p.id = x.id`
  }
  const [before = { zone: 'UTC', range: 120 }] = await sql<{ zone: string; range: number }[]>`
    select timezone as zone, duplicate_prevention_time_range as range from stations where id = ${stationId}`
  const write = (zone: string, range: number) =>
    sql`update stations set timezone = ${zone}, duplicate_prevention_time_range = ${range} where id = ${stationId}`
  await (kind === 'zone' ? write('Mars/Olympus_Mons', before.range) : write(before.zone, 2_147_483_647))
  return () => write(before.zone, before.range)
}

/** Injects a fault and ends it. Resolves when everything runs again, with the rules that were violated meanwhile. */
export async function runFault(rig: Rig, fault: Fault, signal: AbortSignal): Promise<readonly Violation[]> {
  return (await actions[fault.kind](rig, fault, signal)) ?? []
}

const pause = async (ms: number, signal: AbortSignal) =>
  sleep(ms, undefined, { signal }).catch(() => {
    // The run was aborted: the fault ends at once.
  })

type Action = (rig: Rig, fault: Fault, signal: AbortSignal) => Promise<void | readonly Violation[]>

/** The part of the duration after which a killed process is restarted. */
const restartAfterShare = 0.3

/** The maximum lag of the replica, because replication is asynchronous. */
const lagAtMostMs = 1_500

/** The probability that a dump is older than the epoch. */
const oldEpochShare = 0.5

const actions: Readonly<Record<FaultKind, Action>> = {
  'kill-server': async (rig, fault, signal) => killProcess(rig.servers[fault.index], fault, signal),
  'kill-workers': async (rig, fault, signal) => killProcess(rig.workers[fault.index], fault, signal),
  'kill-uploads': uploadUnderKill,
  'pause-server': async (rig, fault, signal) => pauseProcess(rig.servers[fault.index], fault, signal),
  'pause-workers': async (rig, fault, signal) => pauseProcess(rig.workers[fault.index], fault, signal),

  'kill-postgres': async (rig, { forMs }, signal) => {
    await rig.postgres.kill()
    await pause(forMs * restartAfterShare, signal)
    await rig.postgres.start()
  },
  'kill-redis': async (rig, { forMs }, signal) => {
    await rig.redis.kill()
    await pause(forMs * restartAfterShare, signal)
    await rig.redis.start()
  },
  'pause-postgres': async (rig, { forMs }, signal) => {
    const resume = await rig.postgres.pause()
    await pause(forMs, signal)
    resume()
  },
  'pause-redis': async (rig, { forMs }, signal) => {
    const resume = rig.redis.pause()
    await pause(forMs, signal)
    resume()
  },
  'flush-redis': async rig => rig.redis.flush(),
  'restore-redis': async (rig, { forMs, share }, signal) => {
    const restore = await rig.redis.dump()
    // Then the dump belongs to an ended epoch.
    if (share < oldEpochShare) await rig.redis.flush()
    await pause(forMs, signal)
    await rig.redis.kill()
    await restore()
    await rig.redis.start()
  },

  'promote-replica': async (rig, { forMs, share }, signal) => {
    const replica = await rig.redis.openReplica()
    await pause(forMs, signal)
    await replica.fallBehind()
    await pause(share * lagAtMostMs, signal)
    await replica.promote()
  },

  // The name leads to the replica, while the open connections stay on the node that was demoted; later back again.
  'failover-redis': async (rig, { forMs, share }, signal) => {
    const replica = await rig.redis.openReplica()
    const proxies = [...rig.servers, ...rig.workers, ...(rig.others ?? [])].map(each => each.proxies.redis)
    const pointTo = (url: string) => {
      for (const proxy of proxies) proxy.pointTo(url)
    }
    await replica.takeOver()
    await pause(share * lagAtMostMs, signal)
    pointTo(replica.url)
    await pause(forMs, signal)
    await replica.giveBack()
    pointTo(rig.redis.url)
    await replica.close()
  },

  'terminate-backends': async rig => {
    await rig.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where application_name like 'cuewire %' and application_name <> 'cuewire chaos'`
  },
  'lock-table': async (rig, { forMs, share }, signal) => {
    const table = pick(() => share, ['stations', 'song_history', 'queue', 'webhook_deliveries', 'webhooks'])
    await holdLocks(rig, forMs, signal, async tx => {
      await tx`lock table ${tx(table)} in access exclusive mode`
    })
  },
  'lock-rows': async (rig, { forMs }, signal) =>
    holdLocks(rig, forMs, signal, async tx => {
      await tx`select from stations order by id for update`
    }),

  'delay-store': async (rig, fault, signal) => {
    const proxy = processOf(rig, fault).proxies[fault.store]
    proxy.delay(20 + Math.round(fault.share * 230))
    await pause(fault.forMs, signal)
    proxy.delay(0)
  },
  'cut-store': async (rig, fault, signal) => {
    const proxy = processOf(rig, fault).proxies[fault.store]
    proxy.refuse(true)
    proxy.cut()
    await pause(fault.forMs, signal)
    proxy.refuse(false)
  },
  'half-open-store': async (rig, fault) => {
    processOf(rig, fault).proxies[fault.store].freeze()
  },

  'clock-forward': async (rig, fault, signal) => setClock(processOf(rig, fault), '+3600s', fault, signal),
  'clock-back': async (rig, fault, signal) => setClock(processOf(rig, fault), '-3600s', fault, signal),
  'clock-drift': async (rig, fault, signal) => setClock(processOf(rig, fault), '+0 x1.02', fault, signal),
  'clock-kill': async (rig, fault, signal) => {
    const workers = rig.workers[fault.index]
    await workers.clock.set('+3600s')
    await pause(fault.forMs, signal)
    await workers.kill()
    await workers.clock.set(trueTime)
    await workers.start()
  },
  'postgres-clock': async (rig, { forMs, share }, signal) => {
    await rig.postgres.clock.set(share < 0.5 ? '+3600s' : '-3600s')
    await pause(forMs, signal)
    await rig.postgres.clock.set(trueTime)
  },

  'disk-full': async (rig, { forMs }, signal) => {
    const free = await rig.fillDisk?.()
    await pause(forMs, signal)
    await free?.()
    const deadline = AbortSignal.timeout(storeStartMs)
    // A store that could not write may have exited.
    while (!deadline.aborted && (rig.postgres.hasExited() || rig.redis.hasExited())) {
      await rig.postgres.start()
      await rig.redis.start()
    }
  },

  'other-release': async (rig, { forMs }, signal) => {
    const others = rig.others ?? []
    await Promise.all(others.map(async each => each.start()))
    await pause(forMs, signal)
    await Promise.all(others.map(async each => each.stop()))
  },

  'poisoned-station': async (rig, fault, signal) => {
    const stationId = await findAffectedStation(rig, fault)
    if (stationId === null) return
    const restore = await poison(rig, stationId, fault.share)
    await pause(fault.forMs, signal)
    await restore()
  }
}

function processOf(rig: Rig, { role, index }: Fault): CuewireProcess {
  return role === 'server' ? rig.servers[index] : rig.workers[index]
}

async function killProcess(process: CuewireProcess, { forMs }: Fault, signal: AbortSignal): Promise<void> {
  await process.kill()
  await pause(forMs * restartAfterShare, signal)
  await process.start()
}

async function pauseProcess(process: CuewireProcess, { forMs }: Fault, signal: AbortSignal): Promise<void> {
  const resume = process.pause()
  await pause(forMs, signal)
  resume()
}

async function setClock(
  { clock }: CuewireProcess,
  offset: string,
  { forMs }: Fault,
  signal: AbortSignal
): Promise<void> {
  await clock.set(offset)
  await pause(forMs, signal)
  await clock.set(trueTime)
}

/** Holds locks in a separate transaction. */
async function holdLocks(
  rig: Rig,
  forMs: number,
  signal: AbortSignal,
  lock: (tx: postgres.TransactionSql) => Promise<void>
): Promise<void> {
  const sql = postgres(rig.postgres.url, { max: 1, onnotice: () => {} })
  try {
    await sql.begin(async tx => {
      await lock(tx)
      await pause(forMs, signal)
    })
  } finally {
    await sql.end({ timeout: 1 })
  }
}
