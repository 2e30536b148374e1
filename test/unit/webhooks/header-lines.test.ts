import { describe, expect, test } from 'vitest'

import { findHeaderLinesProblem, parseHeaderLines } from '../../../src/webhooks/types/header-lines.ts'

const codeOf = (text: string) => findHeaderLinesProblem(text)?.split(':')[0] ?? null

test('up to ten lines of name and value are accepted', () => {
  const ten = Array.from({ length: 10 }, (_, index) => `X-${index}: value ${index}`)
  for (const text of ['', '\n\n', 'X-A:', 'X-A: b\r\n\r\nx-a: c: d', ten.join('\n'), 'Content-Type: text/x'])
    expect([text, findHeaderLinesProblem(text)]).toEqual([text, null])
  expect(codeOf([...ten, 'X-10: value'].join('\n'))).toBe('too_long')
})

describe('a line is refused', () => {
  test.for([
    'no colon',
    ': no name',
    'two words: x',
    ' X-A: b',
    'X-A : b',
    'X-A: b\rX-B: c',
    'X-A: \u{1F399}',
    'X-A: a\0b',
    'Host: example.com',
    'content-LENGTH: 5',
    'Connection: close',
    'Accept-Encoding: gzip',
    'Transfer-Encoding: chunked',
    'webhook-id: evt_1',
    'Webhook-Signature: v1,x',
    'X-Cuewire-Event: song_changed'
  ])('%j', line => {
    expect(codeOf(line)).toBe('invalid_format')
    expect(findHeaderLinesProblem(`X-A: b\n\n${line}`)).toContain('in line 3.')
  })
})

test('valid lines are parsed to headers by name', () => {
  expect(parseHeaderLines('')).toEqual({})
  expect(parseHeaderLines('X-A:  b: c \r\n\r\nx-b:\nX-a:d')).toEqual({ 'x-a': 'b: c, d', 'x-b': '' })
})
