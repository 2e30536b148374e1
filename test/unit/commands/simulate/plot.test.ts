import { expect, test } from 'vitest'

import { renderSimulationPlot } from '../../../../src/commands/simulate/plot.ts'
import { getTimeZone } from '../../../../src/model/autodj/time-zone.ts'
import { aPlaylist, aRun, inARow } from '../../../support/simulated.ts'

const rotation = aPlaylist(1, { name: 'Hits' })
const show = aPlaylist(2, { name: 'Show', schedule: [{ start_time: 100, end_time: 200 }] })
const jingles = aPlaylist(3, { name: 'Jingles', type: 'once_per_x_songs', everySongs: 4 })

const tags = /<(\/?)([a-z]+)((?:[^<>"]|"[^"<]*")*)>/gi

/** Elements that are closed in another order than opened, and unescaped characters between them. */
function faultsOf(svg: string): string[] {
  const open: string[] = []
  const faults: string[] = []
  for (const [tag, slash, name = '', rest = ''] of svg.matchAll(tags)) {
    if (slash === '/') faults.push(...(open.pop() === name ? [] : [tag]))
    else if (!rest.endsWith('/')) open.push(name)
  }
  return [...faults, ...open, ...(svg.replaceAll(tags, '').match(/[<>]|&(?!amp;|lt;|gt;|quot;)/g) ?? [])]
}

test('faults in SVG text are found', () => {
  expect(faultsOf('<svg><text x="1">a &amp; b</text><rect/></svg>')).toEqual([])
  expect(faultsOf('<svg><text>a & b < c</svg>')).toEqual(['</svg>', 'svg', '&', '<'])
})

const pathOf = (svg: string, name: string) =>
  new RegExp(`<path fill="[^"]+" d="([^"]*)"><title>${name}</title>`).exec(svg)?.[1]

test('a week has seven columns with day names, the clock change and a legend', () => {
  const zone = getTimeZone('Europe/Berlin')
  const fromMs = zone.instant(Date.UTC(2026, 2, 23) / 86_400_000, 0, 'first')
  const news = aPlaylist(4, { name: 'News', type: 'once_per_hour', hourMinute: 30, options: ['interrupt'] })
  const week = aRun([rotation, show, jingles, news], [], { zone })
  const plays = inARow(fromMs, [
    { of: 1, minutes: 3 * 1_440 },
    { of: 4, minutes: 5 },
    { of: 1, minutes: 4 * 1_440 }
  ])
  const svg = renderSimulationPlot('Example', { ...week, fromMs, untilMs: fromMs + 167 * 3_600_000, plays })
  expect(faultsOf(svg)).toEqual([])
  expect(svg.match(/<rect class="day"/g)).toHaveLength(7)
  for (const day of ['Mon 03-23', 'Sun 03-29']) expect(svg).toContain(`>${day}</text>`)
  for (const name of ['Hits', 'Show', 'News']) expect(svg).toContain(`>${name}</text>`)
  for (const about of ['rotation, weight 3', 'program', 'every hour at :30, interrupts'])
    expect(svg).toContain(`>${about}</text>`)
  // It has no schedule and was not heard.
  expect(svg).not.toContain('Jingles')
  expect(svg).toContain('>02:00 is 03:00</text>')
  expect(svg).toContain('@media(prefers-color-scheme:dark)')
})

test('consecutive plays of a playlist are one block, also across a jingle', () => {
  const run = aRun(
    [rotation, show, jingles],
    [
      { of: 1, minutes: 20 },
      { of: 3, minutes: 1 },
      { of: 1, minutes: 39 },
      { of: 2, minutes: 60 },
      { of: 1, minutes: 60 }
    ]
  )
  const svg = renderSimulationPlot('Station', run)
  expect(faultsOf(svg)).toEqual([])
  // An hour is 30 high, and the day begins at 64.
  expect(pathOf(svg, 'Hits')).toMatch(/^M52 64h[\d.]+v30h-[\d.]+zM52 124h[\d.]+v30h-[\d.]+z$/)
  expect(pathOf(svg, 'Show')).toMatch(/^M52 94h[\d.]+v30h-[\d.]+z$/)
  expect(svg.match(/<path class="window"/g)).toHaveLength(1)
  expect(svg).toMatch(/<path class="window" d="M52 94h[\d.]+v30h-[\d.]+z"\/>/)
  // In the side lane, and high enough to be visible.
  expect(pathOf(svg, 'Jingles')).toMatch(/^M(8\d\d) 74h14v1.2h-14z$/)
})

test('names are escaped', () => {
  const odd = aPlaylist(1, { name: '<script>alert("&")</script>\u0000\uD800' })
  const scheduled = aPlaylist(2, { name: '</svg>', schedule: [{ start_time: 0, end_time: 300 }] })
  const svg = renderSimulationPlot(
    'A & "B" <C>',
    aRun(
      [odd, scheduled],
      [
        { of: 1, minutes: 90 },
        { of: 2, minutes: 30 }
      ]
    )
  )
  expect(faultsOf(svg)).toEqual([])
  expect(svg).toContain('A &amp; &quot;B&quot; &lt;C&gt;')
  expect(svg).toContain('<title>&lt;script&gt;alert(&quot;&amp;&quot;)&lt;/script&gt;</title>')
  expect(svg).not.toContain('<script')
  expect(svg).not.toMatch(/[\0\uD800]/)
})

test('long names are truncated to the width of their column, at a grapheme', () => {
  const name = 'Frühstück mit 👩‍👩‍👧‍👦 und vielen anderen'
  const list = aPlaylist(1, { name, schedule: [{ start_time: 0, end_time: 300 }] })
  const days = renderSimulationPlot('Station', aRun([list], [{ of: 1, minutes: 30 * 1_440 }]))
  expect(days).toContain('>Frühs…</text>')
  expect(days).toContain('>Frühstück mit 👩‍👩‍👧‍👦 und viele…</text>')
})

test('labels of programs that start together do not overlap', () => {
  const shows = [1, 2, 3].map(id =>
    aPlaylist(id, { name: `Show ${id}`, schedule: [{ start_time: 0, end_time: 300 }] })
  )
  const svg = renderSimulationPlot('Station', aRun(shows, [{ of: 1, minutes: 1_440 }]))
  const places = [...svg.matchAll(/<text class="label" x="([\d.]+)" y="([\d.]+)">Show/g)]
  expect(places.map(([, x, y]) => [x, y])).toEqual([
    ['55', '76'],
    ['55', '88'],
    ['55', '100']
  ])
})

test('silence, requests and manual songs are drawn', () => {
  const run = aRun(
    [rotation],
    [
      { of: 1, minutes: 60 },
      { of: 0, minutes: 60 },
      { of: 1, minutes: 60, playlistId: null, requestId: 4 }
    ]
  )
  const svg = renderSimulationPlot('Station', run)
  expect(faultsOf(svg)).toEqual([])
  expect(svg).toMatch(/<path class="change" d="M52 94h[\d.]+v30h-[\d.]+z"><title>silence<\/title>/)
  expect(pathOf(svg, 'requests and manual songs')).toMatch(/^M52 124h/)
})

test('a repeated hour is drawn in two halves', () => {
  const zone = getTimeZone('Europe/Berlin')
  const run = aRun([rotation], [{ of: 1, minutes: 25 * 60 }], { zone })
  const fromMs = zone.instant(Date.UTC(2026, 9, 25) / 86_400_000, 0, 'first')
  const [play] = run.plays
  const day = {
    ...run,
    fromMs,
    untilMs: fromMs + 25 * 3_600_000,
    plays: play ? [{ ...play, startsAtMs: fromMs, endsAtMs: fromMs + 25 * 3_600_000 }] : []
  }
  const svg = renderSimulationPlot('Station', day)
  expect(faultsOf(svg)).toEqual([])
  expect(svg.match(/<rect class="day"/g)).toHaveLength(1)
  expect(pathOf(svg, 'Hits')).toBe(
    'M52 64h816v60h-816zM52 124h408v30h-408zM460 124h408v30h-408zM52 154h816v630h-816z'
  )
  expect(svg).toContain('>02:00 twice</text>')
})
