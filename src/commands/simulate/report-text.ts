import type { SimulationReport } from '../../model/autodj/simulation/report.ts'
import { type MeasuredStart, startVerdicts } from '../../model/autodj/simulation/starts.ts'
import type { TimeZone } from '../../model/autodj/time-zone.ts'
import { formatLength, formatLocalTime } from './calendar.ts'

const maxListedStarts = 60

/** Renders a report as tables for a terminal. `wallMs` is the duration of the simulation. */
export function renderSimulationReport(report: SimulationReport, zone: TimeZone, wallMs: number): string {
  const { station, seed, fromMs, untilMs, totals, aims, jingles } = report
  const programs = report.starts.filter(({ kind }) => kind === 'window')
  const missed = aims.filter(({ isMet }) => !isMet)
  const summary = [
    `${whole(totals.plays)} plays`,
    `${whole(totals.songsHeard)} of ${whole(totals.songs)} songs heard`,
    `silence ${formatLength(totals.silentMs)}`,
    `simulated in ${(wallMs / 1_000).toFixed(1)} s`
  ]
  return [
    `${station}, ${zone.name}, seed ${seed}`,
    `${formatLocalTime(zone, fromMs)} to ${formatLocalTime(zone, untilMs)}: ${summary.join(', ')}`,
    ...section(
      'Programs',
      ['due at', 'program', 'started at', 'late by', '', 'after'],
      programs.slice(0, maxListedStarts).map(start => startRow(start, zone)),
      programs.length > maxListedStarts
        ? [`  ${programs.length - maxListedStarts} more; see the file of --json`]
        : []
    ),
    ...section(
      'Hourly playlists',
      ['playlist', 'hours', ...startVerdicts, 'median late by', 'most'],
      hourRows(report)
    ),
    ...section(
      `Repeats of a song, title or artist within ${report.duplicateRangeMs / 60_000} minutes`,
      ['tier', 'plays', 'song', 'title', 'artist', 'avoidable'],
      report.repeats.map(({ tier, plays, song, title, artist, avoidable }) => [
        String(tier),
        ...[plays, song, title, artist].map(whole),
        tier === 'unchecked' ? '' : whole(avoidable)
      ])
    ),
    ...section(
      'Airtime of rotations outside programs',
      ['rotation', 'weight', 'plays', 'airtime', 'expected', 'measured', 'points off', 'allowed'],
      report.shares.map(({ name, weight, plays, airtimeMs, expected, measured, allowed }) => [
        name,
        ...[weight, plays].map(whole),
        formatLength(airtimeMs),
        ...[expected, measured].map(share => `${(share * 100).toFixed(1)} %`),
        signed((measured - expected) * 100),
        (allowed * 100).toFixed(1)
      ])
    ),
    ...section(
      `Jingles: ${jingles.inARow} in a row, ${jingles.besideHourly} next to an hourly playlist`,
      ['playlist', 'plays', 'setting', 'fewest songs between', 'median', 'most'],
      jingles.spacings.map(({ name, plays, everySongs, least, median, most }) => [
        name,
        ...[plays, everySongs, least, median, most].map(whole)
      ])
    ),
    ...section(
      'Playlists',
      ['playlist', 'plays', 'airtime', 'tracks heard', 'of', 'overruns', 'longest'],
      totals.playlists.map(({ name, plays, airtimeMs, tracksHeard, tracks, overruns, longestOverrunMs }) => [
        name,
        whole(plays),
        formatLength(airtimeMs),
        ...[tracksHeard, tracks, overruns].map(whole),
        overruns > 0 ? formatLength(longestOverrunMs) : ''
      ])
    ),
    ...section(
      'Aims',
      ['', 'aim', 'measured'],
      aims.map(({ name, measured, isMet }) => [isMet ? 'met' : 'MISSED', name, measured])
    ),
    '',
    missed.length === 0 ? 'All aims are met.' : `MISSED: ${missed.map(({ name }) => name).join('; ')}.`,
    ''
  ].join('\n')
}

/** A titled table; no lines without rows. */
function section(
  title: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
  notes: readonly string[] = []
): string[] {
  return rows.length === 0 ? [] : ['', title, ...renderTextTable(head, rows), ...notes]
}

function startRow({ dueAtMs, name, startedAtMs, verdict, before }: MeasuredStart, zone: TimeZone): string[] {
  const isStarted = startedAtMs !== null
  return [
    formatLocalTime(zone, dueAtMs),
    name,
    isStarted ? formatLocalTime(zone, startedAtMs).slice(-8) : '',
    isStarted ? formatLength(startedAtMs - dueAtMs) : '',
    verdict,
    before.join(', ')
  ]
}

function hourRows({ starts }: SimulationReport): string[][] {
  const hours = starts.filter(({ kind }) => kind === 'hour')
  return [...new Set(hours.map(({ playlistId }) => playlistId))].map(id => {
    const own = hours.filter(({ playlistId }) => playlistId === id)
    const counts = startVerdicts.map(verdict => own.filter(start => start.verdict === verdict).length)
    const late = own
      .flatMap(({ startedAtMs, dueAtMs }) => (startedAtMs === null ? [] : [startedAtMs - dueAtMs]))
      .toSorted((a, b) => a - b)
    return [
      own[0]?.name ?? '',
      ...[own.length, ...counts].map(whole),
      formatLength(late[Math.floor((late.length - 1) / 2)] ?? 0),
      formatLength(late.at(-1) ?? 0)
    ]
  })
}

const whole = (value: number) => value.toLocaleString('en-GB')
const signed = (value: number) => `${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(1)}`

/** Renders a table for a terminal. Numbers, times and lengths are right-aligned. No lines without rows. */
export function renderTextTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return []
  const columns = head.map((title, column) => {
    const cells = rows.map(row => row[column] ?? '')
    const isNumeric = cells.every(cell => /^[-+]?[\d,.:]*( %)?$/.test(cell))
    const width = Math.max(title.length, ...cells.map(cell => cell.length))
    return (cell: string) => (isNumeric ? cell.padStart(width) : cell.padEnd(width))
  })
  const line = (cells: readonly string[]) =>
    columns
      .map((fit, column) => fit(cells[column] ?? ''))
      .join('  ')
      .trimEnd()
  return [line(head), ...rows.map(line)].map(text => `  ${text}`)
}
