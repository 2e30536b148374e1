import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { parseAccessLogLine } from '../../../src/radio/hls/access-log-line.ts'
import { anyText } from '../../support/any-text.ts'

const get = '"GET /hls/demo/radio.m3u8 HTTP/1.1"'

describe('a line of an access log', () => {
  test.for<[what: string, line: string, expected: object]>([
    [
      'the common format',
      '203.0.113.9 - - [10/Oct/2026:13:55:36 -0700] "GET /hls/demo/radio.m3u8 HTTP/1.0" 200 2326',
      {
        address: '203.0.113.9',
        method: 'GET',
        target: '/hls/demo/radio.m3u8',
        status: 200,
        agent: '',
        atMs: Date.parse('2026-10-10T20:55:36Z')
      }
    ],
    [
      'the combined format',
      `203.0.113.9 - wren [10/Oct/2026:13:55:36 +0000] ${get} 304 0 "https://radio.example.com/" "VLC/3.0"`,
      { status: 304, agent: 'VLC/3.0' }
    ],
    ['IPv6', `2001:db8::7 - - [10/Oct/2026:13:55:36 +0000] ${get} 200 1 "-" "x"`, { address: '2001:db8::7' }],
    ['no response length', `203.0.113.9 - - [10/Oct/2026:13:55:36 +0000] ${get} 304 -`, { status: 304 }],
    [
      'a user with blanks',
      `203.0.113.9 - a b [c] [10/Oct/2026:13:55:36 +0000] ${get} 200 1`,
      { address: '203.0.113.9', status: 200 }
    ],
    [
      'escaped quotes and backslashes',
      `203.0.113.9 - - [10/Oct/2026:13:55:36 +0000] ${get} 200 1 "\\"\\\\" "a \\"b\\" \\x22c\\\\"`,
      { agent: 'a \\"b\\" \\x22c\\\\' }
    ],
    [
      'more than the combined format',
      `203.0.113.9 - - [10/Oct/2026:13:55:36 +0000] ${get} 200 1 "-" "VLC" "198.51.100.1" 0.004`,
      { agent: 'VLC' }
    ],
    [
      'a referer without an agent',
      `203.0.113.9 - - [10/Oct/2026:13:55:36 +0000] ${get} 200 1 "-"`,
      { agent: '' }
    ],
    [
      'a request without a version',
      '203.0.113.9 - - [10/Oct/2026:13:55:36 +0000] "GET /" 200 1',
      { target: '/', status: 200 }
    ]
  ])('is parsed: %s', ([, line, expected]) => {
    expect(parseAccessLogLine(line)).toMatchObject(expected)
  })

  test.for([
    '',
    ' ',
    'garbage',
    ` - - [10/Oct/2026:13:55:36 +0000] ${get} 200 1`,
    '203.0.113.9 - - [10/Oct/2026:13:55:36 +0000] "" 400 0',
    '203.0.113.9 - - [10/Oct/2026:13:55:36 +0000] "\\x16\\x03\\x01" 400 157',
    '203.0.113.9 - - [10/Oct/2026:13:55:36 +0000] "GET /a b HTTP/1.1" 200 1',
    '203.0.113.9 - - [10/Oct/2026:13:55:36 +0000] "GET / HTTP/1.1',
    '203.0.113.9 - - [10/Oct/2026:13:55:36 +0000] "GET / HTTP/1.1\\" 200 1',
    `203.0.113.9 - - [10/Oct/2026:13:55:36 +0000] ${get} 2000 1`,
    `203.0.113.9 - - [10/Oct/2026:13:55:36 +0000] ${get} OK 1`,
    `203.0.113.9 - - [yesterday] ${get} 200 1`
  ])('is ignored if it is malformed: %s', line => {
    expect(parseAccessLogLine(line)).toBeNull()
  })

  test('is parsed back into the texts it was written from', () => {
    const escaped = fc.string().map(text => text.replace(/[\\"]/g, '\\$&').replace(/[\r\n]/g, ' '))
    const word = fc.stringMatching(/^[^\s"\\]{1,20}$/)
    fc.assert(
      fc.property(
        word,
        word,
        fc.integer({ min: 100, max: 599 }),
        escaped,
        escaped,
        (address, target, status, referer, agent) => {
          const line = `${address} - - [10/Oct/2026:13:55:36 +0000] "GET ${target} HTTP/2.0" ${status} 12 "${referer}" "${agent}"`
          expect(parseAccessLogLine(line)).toEqual({
            address,
            atMs: Date.parse('2026-10-10T13:55:36Z'),
            method: 'GET',
            target,
            status,
            agent
          })
        }
      )
    )
  })

  test('never throws', () => {
    fc.assert(
      fc.property(anyText({ maxLength: 300 }), line => {
        const entry = parseAccessLogLine(line)
        expect(entry === null || entry.address !== '').toBe(true)
      })
    )
  })
})
