import { interrupts, type Playlist } from '../autodj/library.ts'
import { windowsBetween } from '../autodj/schedule.ts'
import type { SimulatedPlay } from '../autodj/simulate.ts'
import { dateOf, weekday, type Zone } from '../autodj/zone.ts'
import { clockChanges, type Piece, piecesOf, two } from './calendar.ts'
import type { Run } from './run.ts'

const top = 64
const left = 52
const hourHeight = 30
const dayHeight = 24 * hourHeight
const gap = 8
/** Beside the programme: what comes by the hour or by count. */
const laneWidth = 16
const legendWidth = 220
const legendRow = 34
const legendMost = 60
/** To be told apart on white and on black. */
const colours = words(
  `#4e79a7 #f28e2b #59a14f #e15759 #b07aa1 #76b7b2 #edc948 #ff9da7 #9c755f #5b8ff9 #d37295 #b6992d #8cd17d #499894
  #86bcb6 #a0cbe8`
)
const other = '#9aa0a6'

const style = `text{font:12px system-ui,sans-serif;fill:#24292f}.title{font-weight:600;font-size:15px}.small{font-size:11px;fill:#57606a}.back{fill:#fff}.day{fill:#8884;fill-opacity:.2}.hour{stroke:#888;stroke-opacity:.35}.window{fill:none;stroke:#24292f;stroke-width:1.5}.label{font-size:11px;font-weight:600;paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}.change{stroke:#24292f;stroke-dasharray:4 3;fill:none}.stripe{stroke:#57606a;stroke-width:2}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.small{fill:#9da7b1}.back{fill:#0d1117}.window,.change{stroke:#e6edf3}.label{stroke:#0d1117}.stripe{stroke:#9da7b1}}`

interface Rect {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/**
 * A run as a picture, SVG text: a column of 24 hours of the clock for each local date, blocks in the colour
 * of the playlist that was on, beside them what comes by the hour or by count, outlines where schedules are
 * open, and where the clock changes.
 */
export function renderPlot(station: string, run: Run): string {
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
  const title = `${station}: ${dateOf(firstDay)} to ${dateOf(firstDay + days - 1)}, ${zone.name}`

  const rectOf = (piece: Piece, lane: 'main' | 'side'): Rect => {
    const x = left + (piece.day - firstDay) * columnWidth
    const main = columnWidth - gap - laneWidth
    const full = lane === 'main' ? { x, width: main } : { x: x + main + 2, width: laneWidth - 2 }
    const share = piece.showing === 'only' ? 1 : 0.5
    return {
      x: full.x + (piece.showing === 'second' ? full.width / 2 : 0),
      width: full.width * share,
      y: yAt(piece.fromMinute),
      height: yAt(piece.toMinute) - yAt(piece.fromMinute)
    }
  }

  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">`,
    `<style>${style}</style>`,
    '<defs><pattern id="stripes" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line class="stripe" x1="0" x2="0" y1="0" y2="8"/></pattern></defs>',
    `<rect class="back" width="${width}" height="${height}"/>`,
    `<text class="title" x="${left}" y="24">${escaped(title)}</text>`,
    ...renderGrid(firstDay, days, columnWidth),
    ...renderBlocks(run, shown, rectOf),
    ...renderWindows(run, rectOf),
    ...renderChanges(zone, fromMs, untilMs, rectOf),
    ...legend.lines,
    '</svg>',
    ''
  ].join('\n')
}

type RectOf = (piece: Piece, lane: 'main' | 'side') => Rect

function renderGrid(firstDay: number, days: number, columnWidth: number): string[] {
  const columns = Array.from({ length: days }, (_, index) => {
    const day = firstDay + index
    const x = left + index * columnWidth
    return [
      `<rect class="day" x="${x}" y="${top}" width="${columnWidth - gap}" height="${dayHeight}"/>`,
      `<text x="${x + (columnWidth - gap) / 2}" y="${top - 10}" text-anchor="middle">${weekdays[weekday(day)] ?? ''} ${dateOf(day).slice(5)}</text>`
    ].join('')
  })
  const hours = Array.from({ length: 13 }, (_, index) => index * 2).map(hour => {
    const y = yAt(hour * 60)
    return `<line class="hour" x1="${left - 4}" x2="${left + days * columnWidth - gap}" y1="${y}" y2="${y}"/><text class="small" x="${left - 8}" y="${y + 4}" text-anchor="end">${two(hour)}:00</text>`
  })
  return [...columns, ...hours]
}

/** One path for each playlist; what of it follows itself is one block. */
function renderBlocks(
  { plays, library, untilMs }: Run,
  shown: readonly Playlist[],
  rectOf: RectOf
): string[] {
  const byCount = new Set(library.playlists.filter(({ type }) => type !== 'default').map(({ id }) => id))
  const laneOf = ({ play }: SimulatedPlay) => (byCount.has(play?.playlistId ?? 0) ? 'side' : 'main')
  const { zone } = library.rules
  const runs = (['main', 'side'] as const).flatMap(lane =>
    joined(
      plays.filter(each => laneOf(each) === lane),
      lane === 'main' ? nearMs : 0
    ).map(each => ({ ...each, lane }))
  )
  const groups: readonly (readonly [string, Playlist | null])[] = [
    ...shown.map((playlist, index) => [colours[index % colours.length] ?? other, playlist] as const),
    [other, null]
  ]
  const blocks = groups.flatMap(([colour, playlist]) => {
    const isOwn = ({ play }: SimulatedPlay) =>
      playlist
        ? play?.playlistId === playlist.id
        : play !== null && !shown.some(({ id }) => id === play.playlistId)
    const path = runs
      .filter(isOwn)
      .flatMap(({ startsAtMs, endsAtMs, lane }) =>
        piecesOf(zone, startsAtMs, Math.min(endsAtMs, untilMs)).map(piece => {
          const rect = rectOf(piece, lane)
          // What is short is still seen.
          return outline({ ...rect, height: lane === 'side' ? Math.max(1.2, rect.height) : rect.height })
        })
      )
      .join('')
    const name = playlist ? escaped(playlist.name) : 'requests and songs by hand'
    return path === '' ? [] : [`<path fill="${colour}" d="${path}"><title>${name}</title></path>`]
  })
  const silence = plays
    .filter(({ play }) => play === null)
    .flatMap(({ startsAtMs, endsAtMs }) => piecesOf(zone, startsAtMs, Math.min(endsAtMs, untilMs)))
    .map(piece => outline(rectOf(piece, 'main')))
    .join('')
  return silence === ''
    ? blocks
    : [...blocks, `<path class="change" d="${silence}"><title>silence</title></path>`]
}

/** Jingles in between do not part two plays. */
const nearMs = 5 * 60_000

function joined(plays: readonly SimulatedPlay[], withinMs: number): SimulatedPlay[] {
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

function renderWindows({ library, fromMs, untilMs }: Run, rectOf: RectOf): string[] {
  const { zone } = library.rules
  const taken: Rect[] = []
  return library.playlists.flatMap(({ name, type, schedule }) =>
    windowsBetween(zone, schedule, fromMs, untilMs).flatMap(({ startMs, endMs }) => {
      const rects = piecesOf(zone, Math.max(startMs, fromMs), Math.min(endMs, untilMs)).map(piece =>
        rectOf(piece, type === 'default' ? 'main' : 'side')
      )
      const [first] = rects
      const frames = rects.map(rect => `<path class="window" d="${outline(rect)}"/>`)
      if (type !== 'default' || !first) return frames
      let label = { ...first, y: first.y + 12, height: 12 }
      while (taken.some(({ x, y }) => x === label.x && Math.abs(y - label.y) < 12))
        label = { ...label, y: label.y + 12 }
      taken.push(label)
      return [
        ...frames,
        `<text class="label" x="${round(label.x + 3)}" y="${round(label.y)}">${escaped(fitting(name, label.width / 7.4))}</text>`
      ]
    })
  )
}

function renderChanges(zone: Zone, fromMs: number, untilMs: number, rectOf: RectOf): string[] {
  return clockChanges(zone, fromMs, untilMs).map(change => {
    const rect = rectOf({ ...change, showing: 'only' }, 'main')
    const [from, to] = [time(change.fromMinute), time(change.toMinute)]
    const isSkipped = change.kind === 'skipped'
    const says = isSkipped ? `${from} is ${to}` : `${from} twice`
    const middle = round(rect.x + rect.width / 2)
    const mark = isSkipped
      ? `<path fill="url(#stripes)" d="${outline(rect)}"/><path class="change" d="${outline(rect)}"/>`
      : `<path class="change" d="${outline(rect)}M${middle} ${round(rect.y)}v${round(rect.height)}"/>`
    return `${mark}<text class="label" x="${middle}" y="${round(rect.y + rect.height / 2 + 4)}" text-anchor="middle">${says}</text>`
  })
}

function renderLegend(shown: readonly Playlist[], plays: readonly SimulatedPlay[], x: number) {
  const entry = (index: number, colour: string, name: string, about: string) => {
    const y = top + index * legendRow
    return `<rect x="${x}" y="${y}" width="14" height="14" fill="${colour}"/><text x="${x + 22}" y="${y + 11}">${escaped(fitting(name, 26))}</text><text class="small" x="${x + 22}" y="${y + 25}">${escaped(about)}</text>`
  }
  const entries = shown
    .slice(0, legendMost)
    .map((playlist, index) =>
      entry(index, colours[index % colours.length] ?? other, playlist.name, aboutOf(playlist))
    )
  const unnamed = shown.length - legendMost
  if (unnamed > 0) entries.push(entry(legendMost, 'none', `and ${unnamed} more`, ''))
  const isOther = plays.some(({ play }) => play !== null && !shown.some(({ id }) => id === play.playlistId))
  if (isOther) entries.push(entry(entries.length, other, 'no playlist', 'requests and songs by hand'))
  return { lines: entries, height: entries.length * legendRow }
}

function aboutOf(playlist: Playlist): string {
  const { type, weight, everySongs, everyMinutes, hourMinute, schedule } = playlist
  const about = {
    default: schedule.length > 0 ? 'programme' : `rotation, weight ${weight || 3}`,
    once_per_x_songs: `every ${everySongs} songs`,
    once_per_x_minutes: `every ${everyMinutes} minutes`,
    once_per_hour: `every hour at :${two(hourMinute)}`,
    custom: ''
  }[type]
  return interrupts(playlist) ? `${about}, cuts in` : about
}

const time = (minute: number) => `${two(Math.floor(minute / 60))}:${two(Math.floor(minute % 60))}`

const weekdays = ['', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

const yAt = (minute: number) => top + (minute * hourHeight) / 60
const outline = ({ x, y, width, height }: Rect) =>
  `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}z`
const round = (value: number) => Math.round(value * 10) / 10

function fitting(text: string, letters: number): string {
  const characters = Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)
  return characters.length <= letters ? text : `${characters.slice(0, Math.max(1, letters - 1)).join('')}…`
}

/** For texts and attributes; what XML cannot hold is left out. */
function escaped(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

function words(text: string): string[] {
  return text.split(/\s+/)
}
