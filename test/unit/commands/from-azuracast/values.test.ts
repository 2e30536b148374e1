import { expect, test } from 'vitest'

import { parseAzuracastArguments } from '../../../../src/commands/from-azuracast/command.ts'
import { renderCopyLine } from '../../../../src/commands/from-azuracast/copy-rows.ts'
import { openMigrationReport } from '../../../../src/commands/from-azuracast/migration-report.ts'
import { parseSourceTime, openRowReader } from '../../../../src/commands/from-azuracast/source.ts'
import { folderCoverName } from '../../../../src/commands/from-azuracast/steps/covers.ts'
import { parseListenerPeak } from '../../../../src/commands/from-azuracast/steps/history.ts'
import { localToUtcMinute } from '../../../../src/commands/from-azuracast/steps/listener-minutes.ts'
import { mapCues } from '../../../../src/commands/from-azuracast/steps/media.ts'
import {
  copiedFolderPath,
  proposeStorageRoot
} from '../../../../src/commands/from-azuracast/steps/storage.ts'
import { findRemoteStream } from '../../../../src/commands/from-azuracast/steps/streams.ts'

test.each([
  ['1795500000', 1_795_500_000_000],
  ['0', null],
  ['', null],
  [null, null],
  ['2026-11-24 10:00:00', Date.UTC(2026, 10, 24, 10)],
  ['2026-11-24 10:00:00.250000', Date.UTC(2026, 10, 24, 10, 0, 0, 250)],
  ['2026-11-24', Date.UTC(2026, 10, 24)],
  ['0000-00-00 00:00:00', null]
])('the time %s', (text, ms) => {
  expect(parseSourceTime(text)).toBe(ms)
})

test('a value of a column that the release does not have is unset', () => {
  const read = openRowReader({ columns: ['id', 'config', 'list'] })
  const row = ['7', '{"a": 1}', 'not json']
  expect(read.number(row, 'id')).toBe(7)
  expect(read.json(row, 'config')).toEqual({ a: 1 })
  expect(read.list(row, 'list')).toEqual([])
  expect([read.text(row, 'new'), read.number(row, 'new'), read.flag(row, 'new'), read.has('new')]).toEqual([
    null,
    0,
    false,
    false
  ])
  expect([read.flag(row, 'new', true), read.flag(['0'], 'id', true)]).toEqual([true, false])
})

test.each([
  [{ type: 'icecast', url: 'http://a:8000/', mount: 'main.mp3' }, 'http://a:8000/main.mp3', 'icecast'],
  [{ type: 'icecast', url: 'https://a/radio/', mount: '/main.mp3' }, 'https://a/radio/main.mp3', 'icecast'],
  [{ type: 'shoutcast2', url: 'http://a:8000', mount: '2' }, 'http://a:8000/?sid=2', 'shoutcast2'],
  [{ type: 'shoutcast1', url: 'http://a:8000', mount: '' }, 'http://a:8000', ''],
  [{ type: 'icecast', url: 'http://a', mount: '/m', custom_listen_url: 'https://b/m' }, 'https://b/m', '']
])('the stream of the remote %j', (remote, url, type) => {
  const columns = Object.keys(remote)
  expect(findRemoteStream(openRowReader({ columns }), Object.values(remote))).toEqual({ url, type })
})

test.each([
  ['2026-07-08T12:00:00Z', '2026-07-08T10:00:00Z'],
  ['2026-01-08T00:00:00Z', '2026-01-07T23:00:00Z'],
  // The clock skips this hour.
  ['2026-03-29T02:00:00Z', '2026-03-29T01:00:00Z']
])('the hour %s of a clock in Berlin is %s', (shown, at) => {
  expect(localToUtcMinute('Europe/Berlin', Date.parse(shown))).toBe(Date.parse(at) / 60_000)
})

const extra = (value: object) => ({ extra_metadata: JSON.stringify(value) })
const cues = {
  cue_in_ms: 1_500,
  cue_out_ms: 170_000,
  start_next_ms: 166_500,
  fade_in_ms: null,
  fade_out_ms: 0,
  amplify_db: -2.5
}

test.each([
  extra({
    cue_in: 1.5,
    cue_out: '170',
    cross_start_next: 166.5,
    fade_in: null,
    fade_out: 0,
    amplify: '-2.5 dB'
  }),
  extra({
    liq_cue_in: '1.5',
    liq_cue_out: 170,
    liq_cross_start_next: 166.5,
    liq_fade_out: 0,
    liq_amplify: -2.5
  }),
  {
    cue_in: '1.5',
    cue_out: '170.0',
    fade_start_next: '166.5',
    fade_in: null,
    fade_out: '0.0',
    amplify: '-2.5'
  },
  { cue_in: '1.5', cue_out: '170.0', fade_overlap: '3.5', fade_in: null, fade_out: '0.0', amplify: '-2.5' }
])('cue points of all releases: %j', song => {
  expect(mapCues(openRowReader({ columns: Object.keys(song) }), Object.values(song))).toMatchObject(cues)
})

test('small conversions', () => {
  expect(renderCopyLine(['a\tb\\c\0\nd', null, 5, true, ''])).toBe('a\\tb\\\\c\\nd\t\\N\t5\tt\t\n')
  expect(parseListenerPeak('[3, 17, 5]', 4)).toBe(17)
  expect(parseListenerPeak(null, 4)).toBe(4)
  // The MD5 of `.` and of `a/b`.
  expect(folderCoverName('song.mp3')).toBe('5058f1af8388633f609cadb75a75dc9d')
  expect(folderCoverName('a/b/song.mp3')).toBe('a7e86136543b019d72468ceebf71fb8e')
  expect(['/var/azuracast/stations/jazz/media', '/srv/music', '/music'].map(proposeStorageRoot)).toEqual([
    '/var/azuracast/stations',
    '/srv/music',
    '/music'
  ])
  expect(copiedFolderPath('/srv', '/var/azuracast/stations/jazz/media/')).toBe('/srv/jazz/media')
})

test('the report names what was left out, and what was known before', () => {
  const report = openMigrationReport()
  report.take('songs', 5, 2)
  report.leave('songs with an unusable path', 'a\u001Bb')
  report.advise('BASE_URL=x')
  report.advise('BASE_URL=x')
  expect(report.render(false)).toBe(`Taken:
          5 songs (3 of them before this run)

Not taken, or not completely:
  songs with an unusable path: 1
    a?b

To do:
  BASE_URL=x
`)
  expect(report.added()).toBe(2)
})

test.each([
  [[], 'give one BACKUP'],
  [['a.zip', 'b.zip'], 'give one BACKUP'],
  [['a.zip', '--api', 'https://a', '--key', 'k'], 'give one BACKUP'],
  [['--api', 'https://a'], '--api and --key belong together'],
  [['--api', 'a', '--key', 'k'], '--api must be a web address'],
  [['--mariadb', 'postgres://a/b'], '--mariadb must be like'],
  [['a.zip', '--on-conflict', 'merge'], '--on-conflict must be'],
  [['a.zip', '--odd'], "Unknown option '--odd'"]
])('the arguments %j are refused', (args, problem) => {
  expect(() => parseAzuracastArguments(args)).toThrow(problem)
})
