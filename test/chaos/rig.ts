import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'

import { migrateSchema } from '../../src/stores/db/migrate.ts'
import { openSql, type Sql } from '../../src/stores/db/sql.ts'
import { buildRelease } from '../support/release.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { type Closers, openClosers } from './closers.ts'
import { type CuewireProcess, openCuewireProcess } from './cuewire-process.ts'
import { findFaketime, openFakeClock } from './fake-clock.ts'
import type { Journal } from './journal.ts'
import type { FaultKind } from './plan.ts'
import { openPostgresStore, type PostgresStore } from './postgres-store.ts'
import { openRedisStore, type RedisStore } from './redis-store.ts'
import { openDisk } from './small-disk.ts'

/** All running processes: stores, servers and workers. */
export interface Rig extends AsyncDisposable {
  readonly postgres: PostgresStore
  readonly redis: RedisStore
  readonly servers: readonly [CuewireProcess, CuewireProcess]
  readonly workers: readonly [CuewireProcess, CuewireProcess]
  /** A server and workers of another release, not started; null if they are not needed. */
  readonly others: readonly CuewireProcess[] | null
  /** A direct connection, for checks. */
  readonly sql: Sql
  readonly fillDisk: (() => Promise<() => Promise<void>>) | null
  /** Kinds of faults that are not possible here, with the reason. */
  readonly impossible: ReadonlyMap<FaultKind, string>
}

export interface RigOptions {
  readonly kinds: readonly FaultKind[]
  readonly journal: Journal
  /** Whether a process may fail to start now, because a store is down. */
  readonly mayFailToStart: () => boolean
}

const clockKinds: readonly FaultKind[] = [
  'clock-forward',
  'clock-back',
  'clock-drift',
  'clock-kill',
  'postgres-clock'
]

/** What all servers and workers share of their data, as in production. */
const sharedFolders = ['uploads', 'stations']

/** Starts the stores, migrates them, and prepares the processes. */
export async function openRig(options: RigOptions): Promise<Rig> {
  const opened = openClosers()
  try {
    return await open(options, opened)
  } catch (error) {
    await opened[Symbol.asyncDispose]()
    throw error
  }
}

async function open({ kinds, journal, mayFailToStart }: RigOptions, opened: Closers): Promise<Rig> {
  const impossible = new Map<FaultKind, string>()
  const disk = opened.add(await openDisk(kinds.includes('disk-full')))
  if (kinds.includes('disk-full') && disk.fill === null)
    impossible.set('disk-full', 'a small disk can only be mounted by root')
  const needsClocks = clockKinds.some(kind => kinds.includes(kind))
  const library = needsClocks ? await findFaketime() : null
  if (needsClocks && library === null)
    for (const kind of clockKinds) impossible.set(kind, 'libfaketime is not installed')
  const folder = opened.add(await openTempFolder())
  const clockAt = async (name: string) => openFakeClock(library, join(folder.path, `clock-${name}`))

  const at = async (name: string) => {
    const path = join(disk.path, name)
    await mkdir(path)
    return path
  }
  const postgres = opened.add(await openPostgresStore(await at('postgres'), await clockAt('postgres')))
  const redis = opened.add(await openRedisStore(await at('redis')))
  const sql = openSql(postgres.url, { max: 4, name: 'chaos', statementSeconds: 5 })
  opened.defer(async () => sql.end({ timeout: 2 }))
  await migrateSchema(sql)

  for (const name of sharedFolders) await mkdir(join(folder.path, name))
  const prepare = async (name: string, role: 'server' | 'workers', release?: string) => {
    const dataDir = join(folder.path, name.replace(' ', '-'))
    await mkdir(dataDir)
    for (const each of sharedFolders) await symlink(join(folder.path, each), join(dataDir, each))
    const onUnexpectedExit = (output: string, wasReady: boolean) => {
      journal.note(null, output)
      if (wasReady || !mayFailToStart())
        journal.violate([{ rule: 'no process ends by itself', stationId: null, detail: output }])
    }
    return opened.add(
      await openCuewireProcess({
        name,
        role,
        databaseUrl: postgres.url,
        redisUrl: redis.url,
        dataDir,
        clock: await clockAt(name.replace(' ', '-')),
        ...(release === undefined ? {} : { release }),
        onUnexpectedExit
      })
    )
  }
  const servers = [await prepare('server 1', 'server'), await prepare('server 2', 'server')] as const
  const workers = [await prepare('workers 1', 'workers'), await prepare('workers 2', 'workers')] as const
  let others: CuewireProcess[] | null = null
  if (kinds.includes('other-release')) {
    const path = join(folder.path, 'release')
    await mkdir(path)
    await buildRelease(path, { readable: [3, 4], own: 4, lifetime: 'real' })
    others = [await prepare('other server', 'server', path), await prepare('other workers', 'workers', path)]
  }
  await Promise.all([...servers, ...workers].map(async each => each.start()))
  return {
    postgres,
    redis,
    servers,
    workers,
    others,
    sql,
    fillDisk: disk.fill,
    impossible,
    [Symbol.asyncDispose]: opened[Symbol.asyncDispose]
  }
}
