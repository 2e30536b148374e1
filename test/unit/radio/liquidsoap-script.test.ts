import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import {
  formatLiquidsoapFloat,
  quoteLiquidsoapText,
  renderMountOutput,
  renderLiquidsoapScript,
  type LiquidsoapStation
} from '../../../src/radio/liquidsoap.ts'
import { anyText } from '../../support/any-text.ts'

const station: LiquidsoapStation = {
  id: 7,
  name: 'Harbour FM',
  description: 'Slow radio by the sea',
  url: 'https://harbour.example.com/',
  liveText: 'Live Broadcast',
  fallbackFile: '/srv/radio "one"/fallback.mp3',
  crossfadeType: 'smart',
  crossfade: 2.5,
  frontendUrl: 'http://icecast:8010',
  mounts: [{ path: '/radio.mp3', format: 'mp3', bitrate: 192, isListed: false }]
}

const mount = (format: LiquidsoapStation['mounts'][number]['format'], bitrate: number) =>
  renderMountOutput({ path: '/a', format, bitrate, isListed: true })

/** Evaluates literals joined by `^` like Liquidsoap. Null if one has code, a line break or an early end. */
function evaluate(rendered: string): string | null {
  const isJoined = rendered.startsWith('(')
  const literal = /"((?:[^"\\\p{Cc}]|\\["\\])*)"/uy
  const values: string[] = []
  for (let at = isJoined ? 1 : 0; ; at += ' ^ '.length) {
    literal.lastIndex = at
    const [whole = '', value = '#{'] = literal.exec(rendered) ?? []
    if (value.includes('#{')) return null
    values.push(value.replace(/\\(.)/g, '$1'))
    at += whole.length
    if (rendered.slice(at) === (isJoined ? ')' : '')) return values.join('')
    if (!rendered.startsWith(' ^ ', at)) return null
  }
}

describe('a text', () => {
  test('is quoted, on one line', () => {
    expect(quoteLiquidsoapText('Radio "Ö" \\ 😀')).toBe('"Radio \\"Ö\\" \\\\ 😀"')
    expect(quoteLiquidsoapText('a\r\nshutdown()\u0000\u0085b')).toBe('"a shutdown() b"')
    expect(quoteLiquidsoapText('\ud800x')).toBe('" x"')
  })

  test('is never interpolated', () => {
    expect(quoteLiquidsoapText('#{1+1}')).toBe('("#" ^ "{1+1}")')
    expect(quoteLiquidsoapText('##{{#')).toBe('("##" ^ "{{#")')
  })

  test('evaluates to itself', () => {
    const hostile = fc.string({ unit: fc.constantFrom('#', '{', '}', '"', '\\', ' ', '^', "'", '\n', 'a') })
    fc.assert(
      fc.property(fc.oneof(hostile, anyText()), text => {
        expect(evaluate(quoteLiquidsoapText(text))).toBe(text.replace(/[\p{Cc}\p{Surrogate}]+/gu, ' '))
      }),
      { numRuns: 300 }
    )
  })
})

test('a float has a decimal point and no trailing zeros', () => {
  expect([0, 2, 2.5, 30, 0.125, 1e-9].map(formatLiquidsoapFloat)).toEqual([
    '0.',
    '2.',
    '2.5',
    '30.',
    '0.125',
    '0.'
  ])
})

describe('a mount', () => {
  test('has the nearest bitrate that its encoder supports', () => {
    expect(mount('mp3', 128)).toBe('send_to(mount="/a", is_public=true, %mp3(bitrate=128))')
    expect([0, 100, 10_000].map(bitrate => /bitrate=(\d+)/.exec(mount('mp3', bitrate))?.[1])).toEqual([
      '32',
      '96',
      '320'
    ])
    expect(mount('ogg', 16)).toContain('%vorbis.cbr(bitrate=48)')
    expect(mount('opus', 1_000)).toContain('%opus(bitrate=510)')
    expect(mount('flac', 0)).toContain('%ogg(%flac)')
  })

  test('in AAC uses the encoder that is available', () => {
    const lines = mount('aac', 64).split('\n')
    expect(lines).toContain('%ifencoder %fdkaac')
    expect(lines.filter(line => line.includes('content_type="audio/aac"'))).toHaveLength(2)
  })
})

describe('a script', () => {
  const script = renderLiquidsoapScript(station, 'https://radio.example.com')
  const scriptLines = script.split('\n')
  const settings = (text: string) =>
    Object.fromEntries([...text.matchAll(/^(\w+) = (.*)$/gm)].map(([, name = '', value]) => [name, value]))

  test('contains the settings of its station and its addresses', () => {
    expect(settings(script)).toMatchObject({
      station_name: '"Harbour FM"',
      station_url: '"https://harbour.example.com/"',
      api_path: '"/api/internal/7/liquidsoap"',
      default_url: '"https://radio.example.com"',
      default_icecast_host: '"icecast"',
      default_icecast_port: '"8010"',
      crossfade_type: '"smart"',
      crossfade_seconds: '2.5'
    })
  })

  test('has the mounts of the station; without any it has a dummy output', () => {
    const mounts = (text: string) => text.match(/^(?:send_to|output\.dummy)\(.*$/gm)
    expect(mounts(script)).toEqual(['send_to(mount="/radio.mp3", is_public=false, %mp3(bitrate=192))'])
    expect(mounts(renderLiquidsoapScript({ ...station, mounts: [] }, 'http://x'))).toEqual([
      'output.dummy(radio)'
    ])
  })

  test('defaults to Icecast on localhost', () => {
    const places = ['', 'http://[::1]', 'https://stream.example.com/radio'].map(frontendUrl => {
      const found = settings(renderLiquidsoapScript({ ...station, frontendUrl }, 'http://x'))
      return [found['default_icecast_host'], found['default_icecast_port']]
    })
    expect(places).toEqual([
      ['"127.0.0.1"', '"8000"'],
      ['"::1"', '"8000"'],
      ['"stream.example.com"', '"8000"']
    ])
  })

  test('differs from another only in the lines of its settings, for any text', () => {
    fc.assert(
      fc.property(anyText(), anyText(), (name, url) => {
        const other = renderLiquidsoapScript(
          { ...station, name, description: name, url },
          'https://radio.example.com'
        )
        const lines = other.split('\n')
        const changed = lines.filter((line, index) => line !== scriptLines[index])
        expect(lines).toHaveLength(scriptLines.length)
        expect(changed.filter(line => !/^station_(name|description|url) = /.test(line))).toEqual([])
      }),
      { numRuns: 50 }
    )
  })
})
