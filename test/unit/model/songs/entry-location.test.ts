import { describe, expect, test } from 'vitest'

import { resolveEntryLocation } from '../../../../src/model/songs/entry-location.ts'

describe('a location in the folder /music', () => {
  test.for([
    ['song.mp3', ['/music/song.mp3']],
    ['../other/song.mp3', ['/other/song.mp3']],
    ['/abs/song.mp3', ['/abs/song.mp3']],
    ['Disc 1\\song.mp3', ['/music/Disc 1\\song.mp3', '/music/Disc 1/song.mp3']],
    ['100%25.mp3', ['/music/100%25.mp3', '/music/100%.mp3']],
    ['100%.mp3', ['/music/100%.mp3']],
    ['a%00.mp3', ['/music/a%00.mp3']],
    ['file:///abs/a%20b.mp3', ['/abs/a b.mp3']],
    ['file://localhost/abs/a.mp3', ['/abs/a.mp3']],
    ['file:///abs/100%.mp3', ['/abs/100%.mp3']],
    ['file://b.mp3', ['/music/b.mp3']]
  ] as const)('%s is a file', ([location, paths]) => {
    expect(resolveEntryLocation(location, '/music')).toEqual({ type: 'file', paths })
  })

  test('an http URL is remote', () => {
    const location = resolveEntryLocation('HTTP://Example.com/a b.mp3', '/music')
    expect(location).toEqual({ type: 'remote', url: 'http://example.com/a%20b.mp3' })
  })

  test.for(['rtsp://example.com/a', 'C:\\Music\\a.mp3', 'http://', 'file:///a%00b.mp3'])(
    '%s is unusable',
    location => {
      expect(resolveEntryLocation(location, '/music').type).toBe('unusable')
    }
  )
})
