import { isInterruptingPlaylist, type Playlist, playlistWeight } from '../../model/autodj/library.ts'
import { listWindowsBetween } from '../../model/autodj/schedule.ts'
import type { SimulatedPlay } from '../../model/autodj/simulate.ts'
import type { SimulationRun } from '../../model/autodj/simulation/run.ts'
import { formatDayNumber, isoWeekdayOfDay, type TimeZone } from '../../model/autodj/time-zone.ts'
import { findClockChanges, type LocalDayPart, splitByDay, twoDigits } from './calendar.ts'

const top = 64
const left = 52
const hourHeight = 30
const dayHeight = 24 * hourHeight
const gap = 8
/** The lane for hourly playlists and those that count songs or minutes. */
const laneWidth = 16
const legendWidth = 220
const legendRow = 34
const maxLegendEntries = 60
/** Distinguishable on white and on black. */
const colors =
  `#4e79a7 #f28e2b #59a14f #e15759 #b07aa1 #76b7b2 #edc948 #ff9da7 #9c755f #5b8ff9 #d37295 #b6992d #8cd17d #499894
  #86bcb6 #a0cbe8`.split(/\s+/)
const otherColor = '#9aa0a6'
const colorAt = (index: number) => colors[index % colors.length] ?? otherColor

const style = `text{font:12px system-ui,sans-serif;fill:#24292f}.title{font-weight:600;font-size:15px}.small{font-size:11px;fill:#57606a}.back{fill:#fff}.day{fill:#8884;fill-opacity:.2}.hour{stroke:#888;stroke-opacity:.35}.window{fill:none;stroke:#24292f;stroke-width:1.5}.label{font-size:11px;font-weight:600;paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}.change{stroke:#24292f;stroke-dasharray:4 3;fill:none}.stripe{stroke:#57606a;stroke-width:2}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.small{fill:#9da7b1}.back{fill:#0d1117}.window,.change{stroke:#e6edf3}.label{stroke:#0d1117}.stripe{stroke:#9da7b1}}`

interface Rect {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/**
 * Renders a run as SVG: a column of 24 hours for each local date, blocks in the color of the playlist, a side
 * lane for hourly and counting playlists, outlines of schedule windows, and clock changes.
 */
export function renderSimulationPlot(station: string, run: SimulationRun): string {
  const { library, fromMs, untilMs, plays } = run
  const { zone } = library.rules
  const firstDay = zone.localDay(fromMs)
  const days = zone.localDay(untilMs - 1) - firstDay + 1
  const columnWidth = Math.max(72, Math.floor(840 / days))
  const shown = library.playlists.filter(
    ({ id, schedule }) => schedule.length > 0 || plays.some(({ play }) => play?.playlistId === id)
  )
  const right = left + days * columnWidth
  const legend = renderLegend(shown, plays, right + 12)
  const width = right + legendWidth
  const height = top + Math.max(dayHeight, legend.height) + 16
  const title = `${station}: ${formatDayNumber(firstDay)} to ${formatDayNumber(firstDay + days - 1)}, ${zone.name}`

  const rectOf = (piece: LocalDayPart, lane: 'main' | 'side'): Rect => {
    const x = left + (piece.day - firstDay) * columnWidth
    const main = columnWidth - gap - laneWidth
    const full = lane === 'main' ? { x, width: main } : { x: x + main + 2, width: laneWidth - 2 }
    const share = piece.occurrence === 'only' ? 1 : 0.5
    return {
      x: full.x + (piece.occurrence === 'second' ? full.width / 2 : 0),
      width: full.width * share,
      y: yAt(piece.fromMinute),
      height: yAt(piece.toMinute) - yAt(piece.fromMinute)
    }
  }

  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeXml(title)}">`,
    `<style>${style}</style>`,
    '<defs><pattern id="stripes" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line class="stripe" x1="0" x2="0" y1="0" y2="8"/></pattern></defs>',
    `<rect class="back" width="${width}" height="${height}"/>`,
    `<text class="title" x="${left}" y="24">${escapeXml(title)}</text>`,
    ...renderGrid(firstDay, days, columnWidth),
    ...renderBlocks(run, shown, rectOf),
    ...renderWindows(run, rectOf),
    ...renderChanges(zone, fromMs, untilMs, rectOf),
    ...legend.lines,
    '</svg>',
    ''
  ].join('\n')
}

type RectOf = (piece: LocalDayPart, lane: 'main' | 'side') => Rect

function renderGrid(firstDay: number, days: number, columnWidth: number): string[] {
  const columns = Array.from({ length: days }, (_, index) => {
    const day = firstDay + index
    const x = left + index * columnWidth
    return [
      `<rect class="day" x="${x}" y="${top}" width="${columnWidth - gap}" height="${dayHeight}"/>`,
      `<text x="${x + (columnWidth - gap) / 2}" y="${top - 10}" text-anchor="middle">${weekdays[isoWeekdayOfDay(day)] ?? ''} ${formatDayNumber(day).slice(5)}</text>`
    ].join('')
  })
  const hours = Array.from({ length: 13 }, (_, index) => index * 2).map(hour => {
    const y = yAt(hour * 60)
    return `<line class="hour" x1="${left - 4}" x2="${left + days * columnWidth - gap}" y1="${y}" y2="${y}"/><text class="small" x="${left - 8}" y="${y + 4}" text-anchor="end">${twoDigits(hour)}:00</text>`
  })
  return [...columns, ...hours]
}

/** One path for each playlist. Its consecutive plays are one block. */
function renderBlocks(
  { plays, library, untilMs }: SimulationRun,
  shown: readonly Playlist[],
  rectOf: RectOf
): string[] {
  const byCount = new Set(library.playlists.filter(({ type }) => type !== 'default').map(({ id }) => id))
  const laneOf = ({ play }: SimulatedPlay) => (byCount.has(play?.playlistId ?? 0) ? 'side' : 'main')
  const { zone } = library.rules
  const runs = (['main', 'side'] as const).flatMap(lane =>
    joinPlays(
      plays.filter(each => laneOf(each) === lane),
      lane === 'main' ? maxGapMs : 0
    ).map(each => ({ ...each, lane }))
  )
  const blocks = [...shown, null].flatMap((playlist, index) => {
    const isOwn = (each: SimulatedPlay) =>
      playlist ? each.play?.playlistId === playlist.id : isOtherPlay(each, shown)
    const color = playlist ? colorAt(index) : otherColor
    const path = runs
      .filter(isOwn)
      .flatMap(({ startsAtMs, endsAtMs, lane }) =>
        splitByDay(zone, startsAtMs, Math.min(endsAtMs, untilMs)).map(piece => {
          const rect = rectOf(piece, lane)
          // Short plays remain visible.
          return outline({ ...rect, height: lane === 'side' ? Math.max(1.2, rect.height) : rect.height })
        })
      )
      .join('')
    const name = playlist ? escapeXml(playlist.name) : 'requests and manual songs'
    return path === '' ? [] : [`<path fill="${color}" d="${path}"><title>${name}</title></path>`]
  })
  const silence = plays
    .filter(({ play }) => play === null)
    .flatMap(({ startsAtMs, endsAtMs }) => splitByDay(zone, startsAtMs, Math.min(endsAtMs, untilMs)))
    .map(piece => outline(rectOf(piece, 'main')))
    .join('')
  return silence === ''
    ? blocks
    : [...blocks, `<path class="change" d="${silence}"><title>silence</title></path>`]
}

/** Whether a play is a request or a manual song. */
const isOtherPlay = ({ play }: SimulatedPlay, shown: readonly Playlist[]) =>
  play !== null && !shown.some(({ id }) => id === play.playlistId)

/** Two plays of a playlist are joined if only jingles were between them. */
const maxGapMs = 5 * 60_000

function joinPlays(plays: readonly SimulatedPlay[], withinMs: number): SimulatedPlay[] {
  const runs: SimulatedPlay[] = []
  for (const each of plays) {
    const last = runs.at(-1)
    const isSame = last?.play && each.play && last.play.playlistId === each.play.playlistId
    if (isSame && each.startsAtMs - last.endsAtMs < withinMs)
      runs[runs.length - 1] = { ...last, endsAtMs: each.endsAtMs }
    else runs.push(each)
  }
  return runs
}

function renderWindows({ library, fromMs, untilMs }: SimulationRun, rectOf: RectOf): string[] {
  const { zone } = library.rules
  const taken: Rect[] = []
  return library.playlists.flatMap(({ name, type, schedule }) =>
    listWindowsBetween(zone, schedule, fromMs, untilMs).flatMap(({ startMs, endMs }) => {
      const rects = splitByDay(zone, Math.max(startMs, fromMs), Math.min(endMs, untilMs)).map(piece =>
        rectOf(piece, type === 'default' ? 'main' : 'side')
      )
      const [first] = rects
      const frames = rects.map(rect => `<path class="window" d="${outline(rect)}"/>`)
      if (type !== 'default' || !first) return frames
      let place = { ...first, y: first.y + 12, height: 12 }
      while (taken.some(({ x, y }) => x === place.x && Math.abs(y - place.y) < 12))
        place = { ...place, y: place.y + 12 }
      taken.push(place)
      return [
        ...frames,
        `<text class="label" x="${round(place.x + 3)}" y="${round(place.y)}">${escapeXml(truncateLabel(name, place.width / 7.4))}</text>`
      ]
    })
  )
}

function renderChanges(zone: TimeZone, fromMs: number, untilMs: number, rectOf: RectOf): string[] {
  return findClockChanges(zone, fromMs, untilMs).map(change => {
    const rect = rectOf({ ...change, occurrence: 'only' }, 'main')
    const [from, to] = [formatMinute(change.fromMinute), formatMinute(change.toMinute)]
    const isSkipped = change.kind === 'skipped'
    const label = isSkipped ? `${from} is ${to}` : `${from} twice`
    const middle = round(rect.x + rect.width / 2)
    const mark = isSkipped
      ? `<path fill="url(#stripes)" d="${outline(rect)}"/><path class="change" d="${outline(rect)}"/>`
      : `<path class="change" d="${outline(rect)}M${middle} ${round(rect.y)}v${round(rect.height)}"/>`
    return `${mark}<text class="label" x="${middle}" y="${round(rect.y + rect.height / 2 + 4)}" text-anchor="middle">${label}</text>`
  })
}

function renderLegend(shown: readonly Playlist[], plays: readonly SimulatedPlay[], x: number) {
  const entry = (index: number, color: string, name: string, about: string) => {
    const y = top + index * legendRow
    return `<rect x="${x}" y="${y}" width="14" height="14" fill="${color}"/><text x="${x + 22}" y="${y + 11}">${escapeXml(truncateLabel(name, 26))}</text><text class="small" x="${x + 22}" y="${y + 25}">${escapeXml(about)}</text>`
  }
  const entries = shown
    .slice(0, maxLegendEntries)
    .map((playlist, index) => entry(index, colorAt(index), playlist.name, describePlaylist(playlist)))
  const unnamed = shown.length - maxLegendEntries
  if (unnamed > 0) entries.push(entry(maxLegendEntries, 'none', `and ${unnamed} more`, ''))
  if (plays.some(each => isOtherPlay(each, shown)))
    entries.push(entry(entries.length, otherColor, 'no playlist', 'requests and manual songs'))
  return { lines: entries, height: entries.length * legendRow }
}

function describePlaylist(playlist: Playlist): string {
  const { type, everySongs, everyMinutes, hourMinute, schedule } = playlist
  const about = {
    default: schedule.length > 0 ? 'program' : `rotation, weight ${playlistWeight(playlist)}`,
    once_per_x_songs: `every ${everySongs} songs`,
    once_per_x_minutes: `every ${everyMinutes} minutes`,
    once_per_hour: `every hour at :${twoDigits(hourMinute)}`,
    custom: ''
  }[type]
  return isInterruptingPlaylist(playlist) ? `${about}, interrupts` : about
}

const formatMinute = (minute: number) =>
  `${twoDigits(Math.floor(minute / 60))}:${twoDigits(Math.floor(minute % 60))}`

const weekdays = ['', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

const yAt = (minute: number) => top + (minute * hourHeight) / 60
const outline = ({ x, y, width, height }: Rect) =>
  `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}z`
const round = (value: number) => Math.round(value * 10) / 10

function truncateLabel(text: string, maxLetters: number): string {
  const characters = Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)
  return characters.length <= maxLetters
    ? text
    : `${characters.slice(0, Math.max(1, maxLetters - 1)).join('')}…`
}

/** Escapes text and attribute values; removes characters that XML does not allow. */
function escapeXml(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
