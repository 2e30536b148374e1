import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { urlTextFormat } from '../../../src/webhooks/format/addresses.ts'
import { discordMarkdownFormat } from '../../../src/webhooks/format/discord-markdown.ts'
import { removeControlCharacters } from '../../../src/webhooks/format/plain-text.ts'
import { telegramHtmlFormat, telegramMarkdownFormat } from '../../../src/webhooks/format/telegram.ts'
import {
  fillTemplate,
  type TextFormat,
  lengthWithoutValues,
  plainTextFormat,
  socialTextFormat
} from '../../../src/webhooks/format/template.ts'
import { countCharacters } from '../../../src/webhooks/format/truncate.ts'
import { cpuTimeMs } from '../../support/cpu-time.ts'
import { aPlayingStation, nowPlayingOf, hostileText } from '../../support/hook-events.ts'
import { sized } from '../../support/tier.ts'

const plain = (template: string, document: unknown = nowPlayingOf(aPlayingStation())) =>
  fillTemplate(template, document, plainTextFormat, 10_000)

describe('a variable', () => {
  const document = {
    a: { b: 'B', Mood: 'calm', mood: 'dark', 'x-y': 1, LABEL: 'Upper', 'b.c': 'dotted', 'D.e': 'Dotted' },
    list: [{ t: 'first' }, { t: 'second' }],
    yes: true,
    no: false,
    zero: 0,
    half: 0.5,
    nothing: null,
    text: 'text'
  }
  test.for([
    ['{{a.b}}', 'B'],
    ['{{ a.b }}{{\ta.b\n}}', 'BB'],
    ['{{ a.x-y }}', '1'],
    ['{{ a.b.c }} {{ a.d.E }} {{ a.b.c.d }}', 'dotted Dotted '],
    ['{{ a.mood }} {{ a.Mood }}', 'dark calm'],
    ['{{ A.MOOD }} {{ a.label }}', 'calm Upper'],
    ['{{ list.1.t }} {{ list.01.t }}', 'second second'],
    ['{{ list.2.t }}{{ list.-1.t }}{{ list.length }}{{ list.at }}', ''],
    ['{{ yes }} {{ no }} {{ zero }} {{ half }}', 'true false 0 0.5'],
    ['[{{ nothing }}{{ missing }}{{ a }}{{ list }}{{ text.length }}{{ text.0 }}]', '[]'],
    ['{{ constructor }}{{ __proto__ }}{{ a.constructor.name }}{{ a.toString }}{{ a..b }}{{ . }}', ''],
    ['{{ a b }} {{}} {{ a.b } { a.b }} {{{ a.b }}}', '{{ a b }} {{}} {{ a.b } { a.b }} {B}'],
    ['{{ a.b|upper }} {{ é }}', '{{ a.b|upper }} {{ é }}']
  ] as const)('%j is %j', ([template, text]) => {
    expect(plain(template, document)).toBe(text)
  })
})

test('variables of the now-playing object', () => {
  const template =
    '{{ station.name }}: {{ now_playing.song.artist }}, {{ now_playing.song.title }} ({{ listeners.current }}); ' +
    '{{ playing_next.song.title }}; {{ live.is_live }}; {{ song_history.0.song.title }}.'
  expect(plain(template)).toBe('Harbour FM: Nils Okada, Paper Lanterns (6); Night Ferry; false; .')
})

test('values are not parsed as templates, and invalid variables stay as they are', () => {
  fc.assert(
    fc.property(hostileText, hostileText, (title, literal) => {
      const kept = literal.replace(/\{\{\s*[\w.-]+\s*\}\}/g, '')
      fc.pre(!/\{\{\s*[\w.-]+\s*\}\}/.test(`${kept}{`) && !kept.endsWith('{'))
      const document = { title, station: { name: 'expanded' } }
      expect(plain(`${kept}|{{ title }}|{{ title }}`, document)).toBe(
        `${kept}|${removeControlCharacters(title)}|${removeControlCharacters(title)}`
      )
    })
  )
})

describe('a text that is too long', () => {
  const markup: TextFormat = { write: value => value.replace(/[*]/g, '\\$&'), isMarkup: true }

  test('is truncated at its end in plain text', () => {
    expect(
      fillTemplate('{{ a }} - {{ b }} on air', { a: 'x'.repeat(6), b: 'yyyy' }, plainTextFormat, 12)
    ).toBe('xxxxxx - yy…')
    expect(fillTemplate('abcdef', {}, plainTextFormat, 4)).toBe('abc…')
  })

  test('has truncated values in markup, the longest first, and the whole template', () => {
    const values = { a: 'x'.repeat(50), b: 'yyyy', c: '*'.repeat(50) }
    expect(fillTemplate('<b>{{ a }}</b> {{ b }}', values, markup, 20)).toBe('<b>xxxxxxx…</b> yyyy')
    expect(fillTemplate('<b>{{ c }}</b>', values, markup, 16)).toBe('<b>\\*\\*\\*\\*…</b>')
    expect(fillTemplate('<b>{{ a }}</b>{{ a }}', values, markup, 15)).toBe('<b>xxx…</b>xxx…')
  })

  test('has no values if the template leaves no room for them', () => {
    const template = '<b>{{ a }}{{ a }}{{ a }}</b>'
    expect(fillTemplate(template, { a: 'xx' }, markup, 10)).toBe('<b>………</b>')
    expect(fillTemplate(template, { a: 'xx' }, markup, 9)).toBe('<b></b>')
  })

  test('is truncated at its end if the template alone is too long', () => {
    const template = `${'x'.repeat(20)}{{ a }}`
    expect(lengthWithoutValues(template)).toBe(20)
    expect(fillTemplate(template, { a: 'yy' }, markup, 10)).toBe(`${'x'.repeat(9)}…`)
  })

  test('is truncated to its limit', () => {
    const limits = fc.integer({ min: 30, max: 60 })
    fc.assert(
      fc.property(
        hostileText,
        hostileText,
        limits,
        fc.constantFrom(plainTextFormat, markup),
        (a, b, most, format) => {
          const long = { a: a.repeat(9), b: b.repeat(3) }
          expect(
            countCharacters(fillTemplate('*{{ a }}* by _{{ b }}_', long, format, most))
          ).toBeLessThanOrEqual(most)
        }
      )
    )
  })

  const repeated = sized({
    quick: ['`', '👩‍👩‍👧'],
    deep: ['a', '\\', '`', '*', '[', '](', '🎵', '👩‍👩‍👧', 'a\n']
  })
  test.for(repeated)('is filled within its time: %j', letters => {
    const length = sized({ quick: 1_000, deep: 8_000 })
    const templateLength = sized({ quick: 4_000, deep: 10_000 })
    const value = letters.repeat(length).slice(0, length)
    const before = cpuTimeMs()
    for (const literal of ['', letters])
      for (const format of [
        markup,
        telegramHtmlFormat,
        telegramMarkdownFormat,
        discordMarkdownFormat,
        plainTextFormat,
        urlTextFormat
      ]) {
        const template = `{{a}}${literal}`.repeat(2_000).slice(0, templateLength)
        expect(countCharacters(fillTemplate(template, { a: value }, format, 4_096))).toBeLessThanOrEqual(
          4_096
        )
      }
    // About 20 ms each, with a margin for a busy machine.
    expect(cpuTimeMs() - before).toBeLessThan(4_000)
  })
})

test('values in a post create no mentions', () => {
  const document = { title: '@radio@social.example, a@b' }
  expect(fillTemplate('@me {{ title }}', document, socialTextFormat, 500)).toBe(
    '@me @\u2060radio@\u2060social.example, a@\u2060b'
  )
})

describe('an address', () => {
  const address = (template: string, document: unknown) =>
    fillTemplate(template, document, urlTextFormat, 2_000)

  test('may be a value, or begin with one', () => {
    const document = { url: 'https://radio.example/a_b?c=d', title: 'Ä & B/C' }
    expect(address('{{ url }}', document)).toBe('https://radio.example/a_b?c=d')
    expect(address(' {{ url }}#{{ title }}', document)).toBe(
      ' https://radio.example/a_b?c=d#%C3%84%20%26%20B%2FC'
    )
    expect(address('https://x.example/?u={{ url }}', document)).toBe(
      'https://x.example/?u=https%3A%2F%2Fradio.example%2Fa_b%3Fc%3Dd'
    )
  })

  test('keeps its parts separate for any value', () => {
    fc.assert(
      fc.property(hostileText, title => {
        const { searchParams, host } = new URL(address('https://x.example/?q={{ t }}&page=1', { t: title }))
        expect([host, ...searchParams]).toEqual([
          'x.example',
          ['q', removeControlCharacters(title)],
          ['page', '1']
        ])
      })
    )
  })

  test('does not contain a lone surrogate', () => {
    expect(address('https://x.example/{{ t }}', { t: 'a\uD800' })).toBe('https://x.example/a')
  })
})
