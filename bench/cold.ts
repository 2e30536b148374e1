import { setTimeout as wait } from 'node:timers/promises'

import postgres from 'postgres'

import { findPid, readCpuSeconds, readMemoryBytes } from './cpu.ts'
import { listen } from './listener.ts'
import { startProgram } from './program.ts'
import { seedLibraries } from './seed-libraries.ts'
import { positiveInteger } from './settings.ts'
import { formatNumber, quantile, sortAscending } from './statistics.ts'
import { printTable } from './table.ts'

const port = positiveInteger('PORT', 18_270)
const stations = positiveInteger('STATIONS', 2_000)
/** About 56 steps a second with any number of stations. */
const songMs = positiveInteger('SONG_MS', stations * 18)
/** No song ends while stations are seeded. */
const seedingMs = 3_600_000
const shape = { playlists: 5, tracks: 200, played: 40, songMs: seedingMs, trackMs: songMs }
/** Between the seeding and the first end of a song: the sweep schedules the ends of all songs. */
const settleMs = 15_000 + 4 * stations
const warmMs = positiveInteger('SECONDS', Math.round(songMs / 1_000)) * 1_000
const windowMs = 5_000
const windows = positiveInteger('WINDOWS', 12)
const targetMs = 100

/**
 * Measures a cold start: `npm run bench -- cold`. Songs of all stations end continuously; then the workers
 * are killed and start again with empty caches. Prints steps and lateness for each 5 seconds after the kill,
 * by the time at which a song was due. Lateness is the time from then to the frame of the next song at a
 * client. `STATIONS` sets the number of stations with 1,000 tracks each, `SECONDS` the time before the kill.
 */
export async function cold(): Promise<void> {
  const program = await startProgram(port)
  const sql = postgres(program.databaseUrl, { max: 1, onnotice: () => {} })
  try {
    const seedingFromMs = Date.now()
    await seedLibraries(sql, { stations, ...shape, dueMs: Date.now() + seedingMs })
    await queueSongs(sql)
    await enableStations(sql, Date.now() + settleMs)
    console.log(`seeded ${stations} stations in ${formatNumber((Date.now() - seedingFromMs) / 1_000)} s`)
    const ids = Array.from({ length: stations }, (_, index) => index + 1)
    const listener = await listen(program.baseUrl, ids)
    await wait(settleMs + warmMs)
    const killed = findPid(program.pid, 'workers')
    const restartAtMs = Date.now()
    process.kill(killed, 'SIGKILL')
    const usage = await sampleUsage(program.pid, killed, restartAtMs)
    // A song that was due at the end may start late.
    await wait(windowMs)
    listener.close()
    const rows = await readSteps(sql, restartAtMs - warmMs, restartAtMs + windows * windowMs)
    report(rows, listener.seenAtMs, restartAtMs, usage)
  } finally {
    await sql.end()
    await program.stop()
  }
}

/** Puts three songs into each queue. */
async function queueSongs(sql: postgres.Sql): Promise<void> {
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
async function enableStations(sql: postgres.Sql, firstDueMs: number): Promise<void> {
  await sql.begin(async tx => {
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
async function readSteps(sql: postgres.Sql, fromMs: number, toMs: number): Promise<readonly Step[]> {
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

function report(
  steps: readonly Step[],
  seenAtMs: ReadonlyMap<number, number>,
  restartAtMs: number,
  usage: readonly Usage[]
): void {
  const isIn = ({ dueAtMs }: Step, window: number) =>
    Math.max(-1, Math.floor((Number(dueAtMs) - restartAtMs) / windowMs)) === window
  const latenessIn = (window: number) =>
    sortAscending(
      steps.flatMap(step => {
        const atMs = seenAtMs.get(Number(step.id))
        return atMs === undefined || !isIn(step, window) ? [] : [atMs - Number(step.dueAtMs)]
      })
    )
  const rows = usage.map(({ cpuSeconds, memoryMb }, window) => [
    `${(window * windowMs) / 1_000} to ${((window + 1) * windowMs) / 1_000}`,
    ...columns(latenessIn(window)),
    formatNumber((cpuSeconds - (usage[window - 1]?.cpuSeconds ?? 0)) / (windowMs / 1_000), 2),
    formatNumber(memoryMb)
  ])
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
    [['before', ...columns(latenessIn(-1)), '', ''], ...rows]
  )
  const late = usage.findLastIndex((_, window) => !(quantile(latenessIn(window), 0.99) < targetMs))
  const isReached = late < usage.length - 1
  console.log(
    isReached
      ? `p99 stays below ${targetMs} ms from ${((late + 1) * windowMs) / 1_000} s after the kill`
      : `p99 does not stay below ${targetMs} ms within ${(windows * windowMs) / 1_000} s`
  )
}

function columns(lateness: readonly number[]): string[] {
  return [
    formatNumber(lateness.length),
    ...[0.5, 0.99, 1].map(share => formatNumber(quantile(lateness, share)))
  ]
}
