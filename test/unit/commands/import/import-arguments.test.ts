import { describe, expect, test } from 'vitest'

import { parseImportArguments } from '../../../../src/commands/import/import-command.ts'

test('station, playlist and paths may be in any order', () => {
  expect(
    parseImportArguments(['a.mp3', '--playlist', ' Rotation ', '--station=demo', 'b', '--create'])
  ).toEqual({
    station: 'demo',
    playlist: 'Rotation',
    create: true,
    allowed: [],
    paths: ['a.mp3', 'b']
  })
})

test('arguments after -- are paths, even if they look like options', () => {
  const request = parseImportArguments(['--station', '1', '--playlist', 'P', '--', '--odd.mp3'])
  expect(request).toMatchObject({ create: false, paths: ['--odd.mp3'] })
})

test('--help needs no other arguments', () => {
  expect(parseImportArguments(['--help'])).toBeNull()
  expect(parseImportArguments(['-h', '--station', 'demo'])).toBeNull()
})

describe('a usage error is one line with the usage', () => {
  test.for([
    [[], '--station is missing'],
    [['--station', 'demo', 'a'], '--playlist is missing'],
    [['--station', 'demo', '--playlist', ' ', 'a'], '--playlist is missing'],
    [['--station', 'demo', '--playlist', 'P'], 'no PATH is given'],
    [['--station', 'demo', '--playlist', 'P'.repeat(256), 'a'], '--playlist is longer than 255 characters'],
    [['--bogus'], "Unknown option '--bogus'"],
    [['--station'], "Option '--station <value>' argument missing"]
  ] as const)('%j', ([args, problem]) => {
    expect(() => parseImportArguments([...args])).toThrow(`${problem}; usage: npm run import -- --station`)
  })
})
