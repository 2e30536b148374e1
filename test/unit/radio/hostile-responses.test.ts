import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { parseIcecastListeners, parseIcecastStats, parseIcecastStatus } from '../../../src/radio/icecast.ts'
import { StreamingServerError } from '../../../src/radio/server-stream.ts'
import { parseShoutcastListeners, parseShoutcastStatistics } from '../../../src/radio/shoutcast.ts'
import { anyCharacter, anyText } from '../../support/any-text.ts'
import { cpuTimeMs } from '../../support/cpu-time.ts'
import { sized } from '../../support/tier.ts'

const parsers = [
  parseIcecastStats,
  parseIcecastListeners,
  parseIcecastStatus,
  parseShoutcastStatistics,
  parseShoutcastListeners
]

const good = [
  '<?xml version="1.0"?><icestats><source mount="/m&#x41;"><Listeners>2</Listeners><title>A &amp; B</title>' +
    '<listener id="7"><IP>203.0.113.9</IP><UserAgent>VLC</UserAgent></listener></source></icestats>',
  '{"icestats":{"source":[{"listeners":2,"listenurl":"http://h/m","title":-},{"listeners":0,"dummy":null}]}}',
  '{"totalstreams":1,"streams":[{"id":1,"streamstatus":1,"currentlisteners":4,"songtitle":"A   B"}]}',
  '[{"hostname":"127.0.0.1","xff":"","useragent":"VLC"}]'
]

/** Runs every parser. Returns unexpected errors and results that are out of bounds. */
function findProblems(bytes: Uint8Array): unknown[] {
  return parsers.flatMap((parse): unknown[] => {
    try {
      return parse(bytes).filter(each => !isWithinBounds(each))
    } catch (error) {
      return error instanceof StreamingServerError ? [] : [error]
    }
  })
}

function isWithinBounds(each: ReturnType<(typeof parsers)[number]>[number]): boolean {
  if ('address' in each) return Number.isSafeInteger(each.seconds) && each.seconds >= 0
  return (
    each.unique <= each.total &&
    [each.total, each.unique, each.id, each.bitrate].every(value => Number.isSafeInteger(value)) &&
    [each.artist, each.title].every(text => Array.from(text).length <= 255)
  )
}

/** Random sequences of a language's tokens. */
const nonsense = (pieces: readonly string[]) =>
  fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map(chosen => Buffer.from(chosen.join('')))

test('garbage is rejected', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.json({ stringUnit: anyCharacter }).map(text => Buffer.from(text)),
    nonsense([
      '<a',
      '</a',
      '<',
      '>',
      '/>',
      ' b="',
      '"',
      '&',
      '&#',
      '&#1;',
      '<!',
      '<![CDATA[',
      ']]>',
      '<?',
      '\0',
      'x'
    ]),
    nonsense(['"', '\\', '{', '}', '[', ']', ',', ':', '-', '1', 'null', '"a":', '"icestats":{', '\u0001'])
  )
  fc.assert(
    fc.property(bytes, sent => {
      expect(findProblems(sent)).toEqual([])
    })
  )
})

test('a response with a part missing, doubled or replaced is parsed or rejected', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...good),
      fc.nat(400),
      fc.nat(60),
      fc.oneof(anyText(), fc.constantFrom('', '<', '>', '"', '&', '\\', '-', 'null', '{', '<!--')),
      (text, at, length, piece) => {
        const replaced = text.slice(0, at) + piece + text.slice(at + length)
        const doubled = text.slice(0, at + length) + text.slice(at)
        for (const sent of [replaced, doubled, text.slice(0, at)])
          expect(findProblems(Buffer.from(sent))).toEqual([])
      }
    ),
    { numRuns: sized({ quick: 40, deep: 1_000 }) }
  )
})

test('a large invalid response is rejected in linear time', () => {
  const size = sized({ quick: 32_768, deep: 524_288 })
  const units = [
    ['', '<a>'],
    ['', '<a><b/></a>'],
    ['<icestats>', '<a/>'],
    ['<icestats>', '<source mount="/m"><listeners>1</listeners></source>'],
    ['<icestats><source>', '<listener><IP>1</IP><UserAgent>a</UserAgent></listener>'],
    ['<icestats ', 'a="b" '],
    ['<icestats a="', '&amp;'],
    ['<icestats>', '&'],
    ['<icestats>', '&#'],
    ['<icestats>', '<'],
    ['<icestats>', '<!--'],
    ['<icestats>', '<![CDATA['],
    ['<!DOCTYPE ', '['],
    ['', '<?'],
    ['', ' '],
    ['', '['],
    ['', '{"a":'],
    ['"', '\\"'],
    ['"', '\\x'],
    ['', '"'],
    ['', '1,'],
    ['{"icestats":{"source":[', '{},'],
    ['{"totalstreams":1,"streams":[', '{"id":1},']
  ] as const
  for (const [head, unit] of units) {
    const bytes = Buffer.from(head + unit.repeat((size - head.length) / unit.length))
    for (const parse of [parseIcecastStats, parseIcecastStatus, parseShoutcastStatistics]) {
      const fromMs = cpuTimeMs()
      expect(() => parse(bytes)).toThrow(StreamingServerError)
      // Far above the usual time, and far below that of a quadratic parser.
      expect(cpuTimeMs() - fromMs, `${parse.name} of ${head}${unit}`).toBeLessThan(size / 100)
    }
  }
})
