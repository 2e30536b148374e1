import { describe, expect, test } from 'vitest'

import { StreamingServerError } from '../../../src/radio/server-stream.ts'
import { parseShoutcastListeners, parseShoutcastStatistics } from '../../../src/radio/shoutcast.ts'

const parse = (value: unknown) => parseShoutcastStatistics(Buffer.from(JSON.stringify(value)))

const harbour = {
  id: 1,
  currentlisteners: 4,
  peaklisteners: 9,
  maxlisteners: 200,
  uniquelisteners: 3,
  averagetime: 310,
  servertitle: 'Harbour FM',
  songtitle: 'The Low Signals - Night Ferry',
  streamstatus: 1,
  backupstatus: 0,
  streampath: '/main.mp3',
  streamuptime: 5120,
  bitrate: '128',
  samplerate: '44100',
  content: 'audio/mpeg'
}

test('all streams of a server are parsed', () => {
  const response = { totalstreams: 2, activestreams: 1, streams: [harbour, { id: 2, streamstatus: 0 }] }
  expect(parse(response)).toEqual([
    {
      path: '/main.mp3',
      id: 1,
      isConnected: true,
      total: 4,
      unique: 3,
      artist: 'The Low Signals',
      title: 'Night Ferry',
      bitrate: 128,
      format: 'mp3'
    },
    {
      path: '',
      id: 2,
      isConnected: false,
      total: 0,
      unique: 0,
      artist: '',
      title: '',
      bitrate: 0,
      format: ''
    }
  ])
  expect(parse({ totalstreams: 0 })).toEqual([])
})

test('a stream without a source has no title', () => {
  expect(parse({ totalstreams: 1, streams: [{ ...harbour, streamstatus: 0 }] })).toMatchObject([
    { isConnected: false, total: 4, title: '', artist: '' }
  ])
})

test('the unique count is at most the total', () => {
  expect(parse({ totalstreams: 1, streams: [{ ...harbour, uniquelisteners: 9 }] })).toMatchObject([
    { total: 4, unique: 4 }
  ])
})

describe('a title', () => {
  test.for([
    ['Wren   Tide - Low', 'Wren', 'Tide - Low'],
    ['Jean-Luc Gris - Nord-Sud', 'Jean-Luc Gris', 'Nord-Sud'],
    ['Jean-Luc Gris- Nord', '', 'Jean-Luc Gris- Nord'],
    ['Wren -Tide', '', 'Wren -Tide'],
    ['A-ha', '', 'A-ha'],
    ['A-ha   Take On Me', 'A-ha', 'Take On Me'],
    ['Tide', '', 'Tide'],
    ['-', '', ''],
    ['', '', '']
  ] as const)('%j', ([songtitle, artist, title]) => {
    expect(parse({ totalstreams: 1, streams: [{ ...harbour, songtitle }] })).toMatchObject([
      { artist, title }
    ])
  })
})

test('listeners are identified by agent and forwarded address, or their own address', () => {
  const response = [
    { hostname: '203.0.113.9', useragent: 'VLC/3.0', connecttime: '5', uid: '1', xff: '' },
    { hostname: '127.0.0.1', useragent: 'VLC/3.0', connecttime: '5', uid: '2', xff: '203.0.113.9' },
    { hostname: '127.0.0.1' }
  ]
  const vlc = { address: '203.0.113.9', userAgent: 'VLC/3.0', seconds: 5 }
  expect(parseShoutcastListeners(Buffer.from(JSON.stringify(response)))).toEqual([
    vlc,
    vlc,
    { address: '127.0.0.1', userAgent: '', seconds: 0 }
  ])
  expect(parseShoutcastListeners(Buffer.from('[]'))).toEqual([])
  const relay = [{ hostname: '203.0.113.7', useragent: 'Ultravox/2.1' }]
  expect(parseShoutcastListeners(Buffer.from(JSON.stringify(relay)))).toEqual([])
})

describe('other responses are rejected', () => {
  test.for([
    'Invalid resource',
    '',
    '[]',
    '{}',
    '{"streams":[]}',
    '{"totalstreams":1,"streams":{}}',
    '{"totalstreams":1,"streams":[null]}',
    '{"totalstreams":1,"streams":[{"streamstatus":0}]}',
    '{"totalstreams":1,"streams":[{"id":1,"streamstatus":1}]}',
    '{"totalstreams":1,"streams":[{"id":1,"streamstatus":1,"currentlisteners":null}]}',
    '{"totalstreams":1,"streams":[{"id":1,"streamstatus":1,"currentlisteners":1.5}]}'
  ])('%s', text => {
    expect(() => parseShoutcastStatistics(Buffer.from(text))).toThrow(StreamingServerError)
  })
  test.for(['{}', 'Unauthorized', '[null]', '[1]'])('%s is not a list of listeners', text => {
    expect(() => parseShoutcastListeners(Buffer.from(text))).toThrow(StreamingServerError)
  })
})
