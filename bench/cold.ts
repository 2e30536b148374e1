import { setTimeout as wait } from 'node:timers/promises'

import postgres from 'postgres'

import { findPid, readCpuSeconds, readMemoryBytes } from './cpu.ts'
import { drawGrowth, type GrowthPoint } from './growth.ts'
import { listen } from './listener.ts'
import { startProgram } from './program.ts'
import { seedLibraries } from './seed-libraries.ts'
import { positiveInteger, positiveIntegers, runs } from './settings.ts'
import { formatNumber, formatSpread, quantile, sortAscending } from './statistics.ts'
import { printTable } from './table.ts'

const port = positiveInteger('PORT', 18_270)
/** No song ends while stations are seeded. */
const seedingMs = 3_600_000
const shape = { playlists: 5, tracks: 200, played: 40 }
const windowMs = 5_000
const windows = positiveInteger('WINDOWS', 12)
const targetMs = 100

/** A number of stations, and the length of all their songs: about 56 steps a second with any number of stations. */
interface Load {
  readonly stations: number
  readonly songMs: number
}

/** Lateness and usage in each window after the kill. */
interface Restart {
  readonly before: readonly number[]
  readonly windows: readonly ColdWindow[]
}

interface ColdWindow extends Usage {
  /** Ascending, in milliseconds. */
  readonly lateness: readonly number[]
}

/**
 * Measures a cold start: `npm run bench -- cold`. Songs of all stations end continuously; then the workers
 * are killed and start again with empty caches, `RUNS` times. Prints steps and lateness for each 5 seconds after
 * the kill, by the time at which a song was due. Lateness is the time from then to the frame of the next song at a
 * client. `STATIONS` lists the numbers of stations with 1,000 tracks each, `SECONDS` sets the time before a kill.
 */
export async function cold(): Promise<void> {
  const points: GrowthPoint[] = []
  for (const stations of positiveIntegers('STATIONS', [2_000])) {
    const restarts = await measure({ stations, songMs: positiveInteger('SONG_MS', stations * 18) })
    for (const [name, from, to] of periods)
      points.push({ name, size: stations, values: restarts.map(each => p99Of(each.windows.slice(from, to))) })
  }
  await drawGrowth('cold', { title: 'Lateness after a restart of the workers (p99)', unit: 'ms' }, points)
}

/** Groups of windows. */
const periods = [
  ['first 5 s', 0, 1],
  ['5 s to the end', 1, windows]
] as const

async function measure(load: Load): Promise<readonly Restart[]> {
  const { stations, songMs } = load
  const warmMs = positiveInteger('SECONDS', Math.round(songMs / 1_000)) * 1_000
  /** Between the seeding and the first end of a song: the sweep schedules the ends of all songs. */
  const settleMs = 15_000 + 4 * stations
  const program = await startProgram(port)
  const sql = postgres(program.databaseUrl, { max: 1, onnotice: () => {} })
  try {
    const seedingFromMs = Date.now()
    await seedLibraries(sql, {
      ...shape,
      stations,
      songMs: seedingMs,
      trackMs: songMs,
      dueMs: Date.now() + seedingMs
    })
    await queueSongs(sql, songMs)
    await enableStations(sql, load, Date.now() + settleMs)
    console.log(`seeded ${stations} stations in ${formatNumber((Date.now() - seedingFromMs) / 1_000)} s`)
    const ids = Array.from({ length: stations }, (_, index) => index + 1)
    const listener = await listen(program.baseUrl, ids)
    await wait(settleMs)
    const restarts: Restart[] = []
    for (let run = 0; run < runs; run++) {
      await wait(warmMs)
      const killed = findPid(program.pid, 'workers')
      const restartAtMs = Date.now()
      process.kill(killed, 'SIGKILL')
      const usage = await sampleUsage(program.pid, killed, restartAtMs)
      // A song that was due at the end may start late.
      await wait(windowMs)
      const steps = await readSteps(sql, songMs, restartAtMs - warmMs, restartAtMs + windows * windowMs)
      const latenessIn = (fromMs: number, toMs: number) => latenessOf(steps, listener.seenAtMs, fromMs, toMs)
      restarts.push({
        before: latenessIn(restartAtMs - warmMs, restartAtMs),
        windows: usage.map((each, index) => {
          const fromMs = restartAtMs + index * windowMs
          return { ...each, lateness: latenessIn(fromMs, fromMs + windowMs) }
        })
      })
    }
    listener.close()
    report(load, restarts)
    return restarts
  } finally {
    await sql.end()
    await program.stop()
  }
}

/** Puts three songs into each queue. */
async function queueSongs(sql: postgres.Sql, songMs: number): Promise<void> {
  await sql`
    insert into queue (station_id, seq, position, playlist_id, track_id, media_id, pass, cued_at_ms, plays_at_ms,
      duration_ms)
    select p.station_id, t.n, t.n, p.id, t.id, t.media_id, 1, 0, 0, ${songMs}::int
    from (select station_id, min(id) as id from playlists group by station_id) p
    cross join lateral (
      select id, media_id, row_number() over (order by position) as n from playlist_tracks
      where playlist_id = p.id and position between 100 and 102) t`
  await sql`vacuum analyze`
}

/** Spreads the ends of the current songs evenly over the length of a song, and enables the stations. */
async function enableStations(
  sql: postgres.Sql,
  { stations, songMs }: Load,
  firstDueMs: number
): Promise<void> {
  await sql.begin(async tx => {
    // The program updates stations in another order.
    await tx`lock table stations in share row exclusive mode`
    // Other plays, because the ends of the seeded ones are scheduled already.
    await tx`update song_history set ended_at_ms = ${firstDueMs}::bigint - ${songMs}::bigint where ended_at_ms is null`
    await tx`
      insert into song_history (station_id, media_id, playlist, song_id, artist, title, duration_ms, started_at_ms,
        due_at_ms, title_key, artist_keys)
      select station_id, media_id, playlist, song_id, artist, title, ${songMs}::int, due.ms - ${songMs}::bigint, due.ms,
        title_key, artist_keys
      from song_history
      cross join lateral (select ${firstDueMs}::bigint + station_id * ${songMs}::bigint / ${stations}::bigint as ms) due
      where due_at_ms > ended_at_ms and ended_at_ms = ${firstDueMs}::bigint - ${songMs}::bigint`
    await tx`
      update queue q set plays_at_ms = h.due_at_ms + (q.seq - 1) * ${songMs}::bigint,
        cued_at_ms = h.due_at_ms + (q.seq - 2) * ${songMs}::bigint
      from song_history h where h.station_id = q.station_id and h.ended_at_ms is null`
    await tx`
      update stations s set is_enabled = true, next_seq = 4, filled_version = l.version,
        revision = s.revision + 1, playback_revision = s.revision + 1
      from libraries l where l.station_id = s.id`
  })
}

interface Step {
  readonly id: string
  readonly dueAtMs: string
}

/** The plays that started because a song was due within a period, with the due time. */
async function readSteps(
  sql: postgres.Sql,
  songMs: number,
  fromMs: number,
  toMs: number
): Promise<readonly Step[]> {
  return sql<Step[]>`
    select id, "dueAtMs" from (
      select id, lag(due_at_ms) over (partition by station_id order by id) as "dueAtMs" from song_history
      where started_at_ms > ${fromMs - 2 * songMs}
    ) h where "dueAtMs" >= ${fromMs} and "dueAtMs" < ${toMs}`
}

interface Usage {
  readonly cpuSeconds: number
  readonly memoryMb: number
}

/** Reads CPU and memory of the restarted workers at the end of each window. */
async function sampleUsage(root: number, killed: number, fromMs: number): Promise<readonly Usage[]> {
  const samples: Usage[] = []
  for (let window = 1; window <= windows; window++) {
    await wait(fromMs + window * windowMs - Date.now())
    const pid = findWorkers(root)
    const isUp = pid !== null && pid !== killed
    samples.push({
      cpuSeconds: isUp ? readCpuSeconds(pid) : 0,
      memoryMb: isUp ? readMemoryBytes(pid) / 2 ** 20 : 0
    })
  }
  return samples
}

function findWorkers(root: number): number | null {
  try {
    return findPid(root, 'workers')
  } catch {
    return null
  }
}

/** Returns the lateness of the steps that were due within a period and were seen, ascending. */
function latenessOf(
  steps: readonly Step[],
  seenAtMs: ReadonlyMap<number, number>,
  fromMs: number,
  toMs: number
): readonly number[] {
  return sortAscending(
    steps.flatMap(({ id, dueAtMs }) => {
      const atMs = seenAtMs.get(Number(id))
      const isIn = Number(dueAtMs) >= fromMs && Number(dueAtMs) < toMs
      return atMs === undefined || !isIn ? [] : [atMs - Number(dueAtMs)]
    })
  )
}

const p99Of = (of: readonly ColdWindow[]) =>
  quantile(sortAscending(of.flatMap(({ lateness }) => lateness)), 0.99)

function report({ stations, songMs }: Load, restarts: readonly Restart[]): void {
  console.log(
    `\n${stations} stations of ${shape.playlists * shape.tracks} tracks, songs of ${songMs / 1_000} s`
  )
  printTable(
    [
      's after the kill',
      'steps',
      'p50 ms',
      'p99 ms',
      'max ms',
      'cores: workers',
      'memory of the workers, MB'
    ],
    [
      ['before', ...columns(restarts.map(({ before }) => before)), '', ''],
      ...Array.from({ length: windows }, (_, index) => {
        const measured = restarts.flatMap(each => each.windows[index] ?? [])
        const cores = restarts.map(
          each =>
            ((each.windows[index]?.cpuSeconds ?? 0) - (each.windows[index - 1]?.cpuSeconds ?? 0)) /
            (windowMs / 1_000)
        )
        return [
          `${(index * windowMs) / 1_000} to ${((index + 1) * windowMs) / 1_000}`,
          ...columns(measured.map(({ lateness }) => lateness)),
          formatSpread(cores, 2),
          formatSpread(measured.map(({ memoryMb }) => memoryMb))
        ]
      })
    ]
  )
  for (const restart of restarts) {
    const late = restart.windows.findLastIndex(({ lateness }) => !(quantile(lateness, 0.99) < targetMs))
    console.log(
      late < windows - 1
        ? `p99 stays below ${targetMs} ms from ${((late + 1) * windowMs) / 1_000} s after the kill`
        : `p99 does not stay below ${targetMs} ms within ${(windows * windowMs) / 1_000} s`
    )
  }
  console.log(
    `p99 of all steps later than 5 s after the kill: ${formatSpread(restarts.map(each => p99Of(each.windows.slice(1))))} ms`
  )
}

function columns(measured: readonly (readonly number[])[]): string[] {
  return [
    formatSpread(measured.map(({ length }) => length)),
    ...[0.5, 0.99, 1].map(share => formatSpread(measured.map(lateness => quantile(lateness, share))))
  ]
}
