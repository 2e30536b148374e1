import { expect, test } from 'vitest'

import { buildExampleStation } from '../../../../../src/commands/simulate/example-station.ts'
import { renderSimulationReport } from '../../../../../src/commands/simulate/report-text.ts'
import { buildSimulationReport } from '../../../../../src/model/autodj/simulation/report.ts'
import { type SimulationRun, simulateUntil } from '../../../../../src/model/autodj/simulation/run.ts'
import { getTimeZone } from '../../../../../src/model/autodj/time-zone.ts'
import { aPlaylist, aRun, at } from '../../../../support/simulated.ts'
import { sized } from '../../../../support/tier.ts'

const rotation = aPlaylist(1)
const show = aPlaylist(2, { name: 'Show', schedule: [{ start_time: 100, end_time: 200 }] })
const news = aPlaylist(3, { name: 'News', type: 'once_per_hour', options: ['interrupt'] })
const jingles = aPlaylist(4, { name: 'Jingles', type: 'once_per_x_songs', everySongs: 2, isJingle: true })

const missedOf = (run: SimulationRun) =>
  buildSimulationReport('Station', run)
    .aims.filter(({ isMet }) => !isMet)
    .map(({ name }) => name)

test('a morning of the example station meets every aim', () => {
  const zone = getTimeZone('Europe/Berlin')
  const day = Date.UTC(2026, 2, 23) / 86_400_000
  const [fromMs, untilMs] = [zone.instant(day, 530, 'first'), zone.instant(day, 1_200, 'first')]
  for (const seed of sized({ quick: [1], deep: [1, 2, 3, 4, 5, 6] })) {
    const report = buildSimulationReport(
      'Example',
      simulateUntil(buildExampleStation(zone, seed, fromMs).start, untilMs)
    )
    expect(report.aims.filter(({ isMet }) => !isMet)).toEqual([])
    expect(report.aims).toHaveLength(7)
    expect(report.starts.map(({ name }) => name).toSorted()).toEqual([
      ...Array<string>(6).fill('Legal ID'),
      'Morning',
      ...Array<string>(7).fill('News')
    ])
  }
})

test('an aim without measurements is omitted', () => {
  const names = buildSimulationReport('Station', aRun([rotation], [{ of: 1, minutes: 3 }])).aims.map(
    ({ name }) => name
  )
  expect(names).toEqual([
    'no repeat within the range while another track is eligible',
    'no jingle follows a jingle'
  ])
})

test('a late program, a late interrupt, an avoidable repeat and jingles in a row are missed aims', () => {
  const song = { of: 1, minutes: 50 }
  expect(
    missedOf(aRun([rotation, show], [song, song, { of: 1, minutes: 3 }, { of: 2, minutes: 70 }]))
  ).toEqual(['programs start when the current track ends'])
  const cut = { of: 3, minutes: 5, occurrenceMs: at(0) }
  expect(missedOf(aRun([rotation, news], [cut, song]))).toEqual([])
  expect(missedOf(aRun([rotation, news], [song, cut]))).toEqual(['hourly interrupts start to the second'])
  const again = {
    ...song,
    minutes: 3,
    song: { song: 1, title: 0, artists: [] },
    log: [
      { step: 'bucket', bucket: 'default/unscheduled', order: [{ id: 1, weight: 3 }] },
      { step: 'picked', id: 1, media: 1, tier: 1, pass: 1, overrun: 0 }
    ] as const
  }
  expect(missedOf(aRun([rotation], [again, again]))).toEqual([
    'no repeat within the range while another track is eligible'
  ])
  const jingle = { of: 4, minutes: 1, isVisible: false }
  expect(missedOf(aRun([rotation, jingles], [jingle, jingle]))).toEqual([
    'no jingle follows a jingle',
    'playlists that count songs have enough songs between their plays'
  ])
})

test('a rotation with less than its share is a missed aim', () => {
  const heard = Array.from({ length: 2_000 }, (_, index) => ({ of: index % 100 < 60 ? 1 : 5, minutes: 3 }))
  expect(missedOf(aRun([rotation, aPlaylist(5)], heard))).toEqual([
    'rotations get their expected share of airtime'
  ])
})

test('the report consists of tables, and its last line says whether all aims are met', () => {
  const run = aRun(
    [rotation, show],
    [
      { of: 1, minutes: 80 },
      { of: 2, minutes: 70 }
    ]
  )
  const text = renderSimulationReport(buildSimulationReport('Harbour FM', run), getTimeZone('UTC'), 1_234)
  expect(text).toContain('Harbour FM, UTC, seed 1\n')
  expect(text).toContain('2 plays, 2 of 20 songs heard, silence 0:00, simulated in 1.2 s\n')
  expect(text).toContain('  Mon 2026-01-12 01:00:00  Show       01:20:00    20:00  on time\n')
  expect(text).toContain('  Show          1  1:10:00             1  10         1    30:00\n')
  expect(text.endsWith('\nAll aims are met.\n')).toBe(true)
  expect(text).not.toContain('Hourly playlists')
})

test('the last line names missed aims', () => {
  const run = aRun([rotation, show], [{ of: 1, minutes: 180 }])
  const text = renderSimulationReport(buildSimulationReport('Harbour FM', run), getTimeZone('UTC'), 0)
  expect(text).toMatch(/01:00:00 {2}Show +never\n/)
  expect(text.endsWith('\nMISSED: programs start when the current track ends.\n')).toBe(true)
})

test('at most sixty programs are listed', () => {
  const often = aPlaylist(2, {
    schedule: Array.from({ length: 24 }, (_, hour) => ({ start_time: hour * 100, end_time: hour * 100 + 30 }))
  })
  const run = aRun([rotation, often], [{ of: 1, minutes: 4_320 }])
  expect(renderSimulationReport(buildSimulationReport('Harbour FM', run), getTimeZone('UTC'), 0)).toContain(
    '\n  12 more; see the file of --json\n'
  )
})
