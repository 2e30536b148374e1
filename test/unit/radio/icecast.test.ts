import { describe, expect, test } from 'vitest'

import { parseIcecastListeners, parseIcecastStats, parseIcecastStatus } from '../../../src/radio/icecast.ts'
import { StreamingServerError } from '../../../src/radio/server-stream.ts'

const stats = (sources: string) =>
  parseIcecastStats(
    Buffer.from(`<?xml version="1.0"?>\n<icestats><sources>9</sources>${sources}</icestats>\n`)
  )
const status = (sources: string) =>
  parseIcecastStatus(Buffer.from(`{"icestats":{"server_id":"Icecast 2.4.4"${sources},"dummy":null}}`))

/** Captured from Icecast 2.4.4. */
const mp3 =
  '<source mount="/main.mp3"><genre>various</genre><listener_peak>3</listener_peak><listeners>3</listeners>' +
  '<listenurl>http://127.0.0.1:8000/main.mp3</listenurl><server_type>audio/mpeg</server_type><bitrate>128</bitrate>' +
  '<stream_start>Sun, 22 Nov 2026 02:27:34 +0000</stream_start><title>The Low Signals - Night Ferry</title></source>'
const ogg =
  '<source mount="/main.ogg"><artist>1999</artist><audio_bitrate>64000</audio_bitrate><ice-bitrate>64</ice-bitrate>' +
  '<listeners>0</listeners><server_type>application/ogg</server_type><subtype>Vorbis</subtype><title>True</title></source>'
const waiting =
  '<source mount="/relay.mp3"><listener_peak>0</listener_peak><listeners>0</listeners>' +
  '<listenurl>http://127.0.0.1:8000/relay.mp3</listenurl><public>0</public></source>'

const night = {
  path: '/main.mp3',
  id: 0,
  isConnected: true,
  total: 3,
  unique: 3,
  artist: 'The Low Signals',
  title: 'Night Ferry',
  bitrate: 128,
  format: 'mp3'
}
const truth = {
  path: '/main.ogg',
  id: 0,
  isConnected: true,
  total: 0,
  unique: 0,
  artist: '1999',
  title: 'True',
  bitrate: 64,
  format: 'ogg'
}

test('statistics with 0, 1 or 2 sources are parsed', () => {
  expect(stats('')).toEqual([])
  expect(stats(mp3)).toEqual([night])
  expect(stats(mp3 + ogg)).toEqual([night, truth])
})

test('an on-demand relay without listeners is not connected', () => {
  expect(stats(waiting)).toMatchObject([{ path: '/relay.mp3', isConnected: false, total: 0 }])
  const json = ',"source":{"listener_peak":0,"listeners":0,"listenurl":"http://127.0.0.1:8000/relay.mp3"}'
  expect(status(json)).toMatchObject([{ path: '/relay.mp3', isConnected: false, total: 0 }])
})

describe('a title in XML', () => {
  test.for([
    ['Tom &amp; Ann - Rain &amp; Sun', 'Tom & Ann', 'Rain & Sun'],
    ['Tom &amp;amp; Ann - Rain', 'Tom & Ann', 'Rain'],
    ['Tom & Ann - R&B; Rain', 'Tom & Ann', 'R&B; Rain'],
    ['Beyonc&eacute; - D&#xE9;j&#224; Vu', 'Beyonc\u00E9', 'D\u00E9j\u00E0 Vu'],
    ['A&#1; - B\u0001C&#xD800;', 'A', 'B C'],
    ['<![CDATA[Tom & <Ann> - Rain]]>', 'Tom & <Ann>', 'Rain'],
    ['-', '', ''],
    ['1.', '', '1.'],
    ['', '', '']
  ] as const)('%s', ([title, artist, rest]) => {
    const source = `<source mount="/m"><listeners>0</listeners><title>${title}</title></source>`
    expect(stats(source)).toMatchObject([{ artist, title: rest }])
  })
})

describe('titles that are not UTF-8', () => {
  const sourceOf = (title: string) =>
    Buffer.from(`<source mount="/m"><listeners>0</listeners><title>${title}</title></source>`, 'latin1')
  const statsOf = (titles: readonly string[], declaration = '') =>
    Buffer.concat([
      Buffer.from(`${declaration}<icestats>`),
      ...titles.map(sourceOf),
      Buffer.from('</icestats>')
    ])
  const titlesOf = (bytes: Buffer, charset?: string) =>
    parseIcecastStats(bytes, charset).map(({ title }) => title)
  const kino = '\xEB\xC9\xCE\xCF'
  const utf8 = Buffer.from('Кино').toString('latin1')

  test('are decoded one by one', () => {
    expect(titlesOf(statsOf(['\xC9t\xE9 \x96 \x80', utf8]))).toEqual(['Été – €', 'Кино'])
  })

  test('are in the charset of the declaration or the content type', () => {
    const declaration = '<?xml version="1.0" encoding="koi8-r"?>'
    expect(titlesOf(statsOf([kino, utf8], declaration))).toEqual(['Кино', 'Кино'])
    expect(titlesOf(statsOf([kino]), 'koi8-r')).toEqual(['Кино'])
  })
})

test('the public status has no source, one source or a list of sources', () => {
  const main =
    '{"listeners":3,"listenurl":"http://radio.example:8000/main.mp3","server_type":"audio/mpeg","bitrate":128,' +
    '"title":"The Low Signals - Night Ferry","dummy":null}'
  const other =
    '{"artist":1999,"audio_bitrate":64000,"listeners":0,"listenurl":"http://radio.example:8000/main.ogg",' +
    '"server_type":"application/ogg","subtype":"Vorbis","title":"True"}'
  expect(status('')).toEqual([])
  expect(status(`,"source":${main}`)).toEqual([night])
  expect(status(`,"source":[${main},${other}]`)).toEqual([night, truth])
})

describe('a title in JSON', () => {
  test.for([
    ['-', ''],
    [' - ', ''],
    ['1.', '1.'],
    ['.5', '.5'],
    ['1999', '1999'],
    ['12345678901234567890', '12345678901234567890'],
    ['true', 'true'],
    ['null', ''],
    ['{"a":1}', ''],
    ['["a"]', ''],
    ['"007"', '007'],
    ['"a\tb\u0001c\\td"', 'a b c d'],
    ['"say \\"-\\", \\\\ {1}: [2],"', 'say "-", \\ {1}: [2],']
  ] as const)('%s', ([written, title]) => {
    const source = `,"source":{"title":${written},"listeners":7,"listenurl":"http://h/m","server_type":"audio/mpeg"}`
    expect(status(source)).toMatchObject([{ title, artist: '', total: 7, isConnected: true }])
  })
})

test('the path of a mount is the decoded path of its address', () => {
  const paths = ['http://h:8000/live/%C3%A9t\u00E9.mp3?x=1', 'http://h/100%', 'nonsense'].flatMap(url =>
    status(`,"source":{"listeners":1,"listenurl":${JSON.stringify(url)}}`).map(({ path }) => path)
  )
  expect(paths).toEqual(['/live/\u00E9t\u00E9.mp3', '/100%'])
})

test('listeners have an address, an agent and a duration, with element names in any case', () => {
  const older =
    '<icestats><source mount="/main.mp3"><Listeners>3</Listeners>' +
    '<listener><IP>127.0.0.1</IP><UserAgent>Other &amp; &lt;b&gt;</UserAgent><Connected>1</Connected><ID>10</ID></listener>' +
    '<listener id="11"><ID>11</ID><IP>127.0.0.1</IP><UserAgent>VLC/3.0</UserAgent><lag>0</lag></listener>' +
    '<listener id="12"><ID>12</ID><IP>127.0.0.1</IP><UserAgent>VLC/3.0</UserAgent></listener></source></icestats>'
  const listeners = parseIcecastListeners(Buffer.from(older))
  const vlc = { address: '127.0.0.1', userAgent: 'VLC/3.0', seconds: 0 }
  expect(listeners).toEqual([{ address: '127.0.0.1', userAgent: 'Other & <b>', seconds: 1 }, vlc, vlc])
  expect(parseIcecastListeners(Buffer.from(older.toLowerCase()))).toHaveLength(3)
  expect(parseIcecastListeners(Buffer.from('<icestats><source mount="/m"/></icestats>'))).toEqual([])
})

describe('other responses are rejected', () => {
  test.for([
    '',
    'ICY 404 Resource Not Found',
    '<html><head><title>Error</title></head></html>',
    '<icestats><source mount="/m"><listeners>3</listeners>',
    '<icestats><source mount="/m"></source></icestats>',
    '<icestats><source mount="/m"><listeners>many</listeners></source></icestats>',
    '<icestats><source mount="/m"><listeners>-1</listeners></source></icestats>',
    '<!DOCTYPE x [<!ENTITY lol "lol">]><icestats></icestats>',
    '<icestats></icestats><icestats></icestats>'
  ])('%s', text => {
    expect(() => parseIcecastStats(Buffer.from(text))).toThrow(StreamingServerError)
  })
  test.for([
    '',
    'null',
    '[]',
    '{}',
    '{"icestats":[]',
    '{"icestats":"server_start":"Sat, 03 Oct 2020 15:45:30 +0200","dummy":null}}',
    '{"icestats":{"source":null}}',
    '{"icestats":{"source":[null]}}',
    '{"icestats":{"source":{"listenurl":"http://h/m"}}}',
    '{"icestats":{"source":{"listeners":"many","listenurl":"http://h/m"}}}',
    '{"icestats":{"source":{"listeners":1,"listenurl":"http://h/m","title":"\\x"}}}',
    '<html></html>'
  ])('%s', text => {
    expect(() => parseIcecastStatus(Buffer.from(text))).toThrow(StreamingServerError)
  })
  test.for(['', '<html></html>', '<icestats></icestats>', '<icestats><source>'])('%s', text => {
    expect(() => parseIcecastListeners(Buffer.from(text))).toThrow(StreamingServerError)
  })
})
