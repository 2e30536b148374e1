import type { Zone } from '../autodj/zone.ts'
import { lengthText, localTimeAt } from './calendar.ts'
import type { Report } from './report.ts'
import type { Start } from './starts.ts'

const startsShown = 60

/** A report as tables for a terminal; `wallMs` is how long the simulation took. */
export function renderReport(report: Report, zone: Zone, wallMs: number): string {
  const { station, seed, fromMs, untilMs, totals, aims, jingles } = report
  const programmes = report.starts.filter(({ kind }) => kind === 'window')
  const missed = aims.filter(({ isMet }) => !isMet)
  return [
    `${station}, ${zone.name}, seed ${seed}`,
    `${localTimeAt(zone, fromMs)} to ${localTimeAt(zone, untilMs)}: ${whole(totals.plays)} plays, ${whole(totals.songsHeard)} of ${whole(totals.songs)} songs heard, silence ${lengthText(totals.silentMs)}, simulated in ${(wallMs / 1_000).toFixed(1)} s`,
    ...section(
      'Programmes',
      renderTable(
        ['opens at', 'programme', 'starts at', 'late by', '', 'behind'],
        programmes.slice(0, startsShown).map(start => startRow(start, zone))
      ),
      programmes.length > startsShown
        ? [`  ${programmes.length - startsShown} more are in the file that --json writes`]
        : []
    ),
    ...section('Every hour', renderTable(hourHead, hourRows(report))),
    ...section(
      `Repeats of a song, title or artist within ${report.duplicateRangeMs / 60_000} minutes`,
      renderTable(
        ['tier', 'plays', 'song', 'title', 'artist', 'avoidable'],
        report.repeats.map(({ tier, plays, song, title, artist, avoidable }) => [
          String(tier),
          ...[plays, song, title, artist].map(whole),
          tier === 'unchecked' ? '' : whole(avoidable)
        ])
      )
    ),
    ...section(
      'Airtime of the rotations while no programme is on',
      renderTable(
        ['rotation', 'weight', 'plays', 'airtime', 'expected', 'measured', 'points off', 'allowed'],
        report.shares.map(each => [
          each.name,
          whole(each.weight),
          whole(each.plays),
          lengthText(each.airtimeMs),
          `${(each.expected * 100).toFixed(1)} %`,
          `${(each.measured * 100).toFixed(1)} %`,
          signed((each.measured - each.expected) * 100),
          (each.allowed * 100).toFixed(1)
        ])
      )
    ),
    ...section(
      `Jingles: ${jingles.inARow} in a row, ${jingles.besideHourly} beside an identification of the hour`,
      renderTable(
        ['every so many songs', 'plays', 'songs', 'least between', 'median', 'most'],
        jingles.spacings.map(({ name, plays, everySongs, least, median, most }) => [
          name,
          ...[plays, everySongs, least, median, most].map(whole)
        ])
      )
    ),
    ...section(
      'Playlists',
      renderTable(
        ['playlist', 'plays', 'airtime', 'tracks heard', 'of', 'overruns', 'longest'],
        totals.playlists.map(each => [
          each.name,
          whole(each.plays),
          lengthText(each.airtimeMs),
          whole(each.tracksHeard),
          whole(each.tracks),
          whole(each.overruns),
          each.overruns > 0 ? lengthText(each.longestOverrunMs) : ''
        ])
      )
    ),
    ...section(
      'Aims',
      renderTable(
        ['', 'aim', 'measured'],
        aims.map(({ name, measured, isMet }) => [isMet ? 'met' : 'MISSED', name, measured])
      )
    ),
    '',
    missed.length === 0 ? 'All aims are met.' : `MISSED: ${missed.map(({ name }) => name).join('; ')}.`,
    ''
  ].join('\n')
}

function section(title: string, ...parts: readonly (readonly string[])[]): string[] {
  const lines = parts.flat()
  return lines.length === 0 ? [] : ['', title, ...lines]
}

function startRow({ dueAtMs, name, startedAtMs, verdict, before }: Start, zone: Zone): string[] {
  const isStarted = startedAtMs !== null
  return [
    localTimeAt(zone, dueAtMs),
    name,
    isStarted ? localTimeAt(zone, startedAtMs).slice(-8) : '',
    isStarted ? lengthText(startedAtMs - dueAtMs) : '',
    verdict,
    before.join(', ')
  ]
}

const hourHead = ['playlist', 'hours', 'on time', 'behind others', 'late', 'never', 'median late by', 'most']

function hourRows({ starts }: Report): string[][] {
  const hours = starts.filter(({ kind }) => kind === 'hour')
  return [...new Set(hours.map(({ playlistId }) => playlistId))].map(id => {
    const own = hours.filter(({ playlistId }) => playlistId === id)
    const count = (verdict: Start['verdict']) => own.filter(start => start.verdict === verdict).length
    const late = own
      .flatMap(({ startedAtMs, dueAtMs }) => (startedAtMs === null ? [] : [startedAtMs - dueAtMs]))
      .toSorted((a, b) => a - b)
    return [
      own[0]?.name ?? '',
      ...[own.length, count('on time'), count('behind others'), count('late'), count('never')].map(whole),
      lengthText(late[Math.floor((late.length - 1) / 2)] ?? 0),
      lengthText(late.at(-1) ?? 0)
    ]
  })
}

const whole = (value: number) => value.toLocaleString('en-GB')
const signed = (value: number) => `${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(1)}`

/**
 * A table as text for a terminal. Columns of numbers, times and lengths stand to the right; an empty table is
 * no lines.
 */
export function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
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
