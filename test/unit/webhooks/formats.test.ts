import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { discordMarkdownFormat } from '../../../src/webhooks/format/discord-markdown.ts'
import { wordJoiner, removeControlCharacters } from '../../../src/webhooks/format/plain-text.ts'
import { telegramHtmlFormat, telegramMarkdownFormat } from '../../../src/webhooks/format/telegram.ts'
import {
  fillTemplate,
  type TextFormat,
  plainTextFormat,
  socialTextFormat
} from '../../../src/webhooks/format/template.ts'
import { countCharacters } from '../../../src/webhooks/format/truncate.ts'
import { hostileText } from '../../support/hook-events.ts'
import { sized } from '../../support/tier.ts'

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'"
}
const whole = (text: string) => text
/** Each format with a function that removes its escapes. */
const formats: readonly (readonly [name: string, format: TextFormat, read: (text: string) => string])[] = [
  ['plain text', plainTextFormat, whole],
  ['posts', socialTextFormat, whole],
  ['Markdown of Discord', discordMarkdownFormat, text => text.replace(/\\([^0-9A-Za-z\s])/g, '$1')],
  ['Markdown of Telegram', telegramMarkdownFormat, text => text.replace(/\\([_*`[])/g, '$1')],
  [
    'HTML of Telegram',
    telegramHtmlFormat,
    text => text.replace(/&#?\w+;/g, entity => entities[entity] ?? '?')
  ]
]
const visible = (text: string) => text.replaceAll(wordJoiner, '')

describe.for(formats)('%s', ([, format, read]) => {
  const document = (title: string, artist: string) => ({ title, artist, station: { name: 'expanded' } })

  test('shows any inserted value, expanded once', () => {
    fc.assert(
      fc.property(hostileText, hostileText, (title, artist) => {
        const text = fillTemplate(
          'On air: {{ title }} § {{ artist }}',
          document(title, artist),
          format,
          10_000
        )
        expect(visible(read(text))).toBe(
          visible(`On air: ${removeControlCharacters(title)} § ${removeControlCharacters(artist)}`)
        )
      }),
      { numRuns: sized({ quick: 60, deep: 1_000 }) }
    )
  })

  test('stays within its limit, and shows the beginning of a truncated value', () => {
    const limits = fc.integer({ min: 20, max: 200 })
    fc.assert(
      fc.property(hostileText, hostileText, limits, fc.integer({ min: 1, max: 30 }), (a, b, most, times) => {
        const [title, artist] = [a.replaceAll('…', ''), b.replaceAll('…', '').repeat(times)]
        const text = fillTemplate('On air: {{ title }}{{ artist }}', document(title, artist), format, most)
        expect(countCharacters(text)).toBeLessThanOrEqual(most)
        const meant = visible(`On air: ${removeControlCharacters(title)}${removeControlCharacters(artist)}`)
        const [shown = '', rest] = visible(read(text)).split('…')
        expect(shown).toBe(rest === undefined ? meant : meant.slice(0, shown.length))
      }),
      { numRuns: sized({ quick: 60, deep: 1_000 }) }
    )
  })

  test('accepts a value of 10 KB', () => {
    for (const title of ['x'.repeat(10_240), '\u202e👩‍👩‍👧*_'.repeat(1_000), '{{ title }}'.repeat(900)]) {
      const text = fillTemplate('{{ title }}!', document(title, ''), format, 500)
      expect(countCharacters(text)).toBeLessThanOrEqual(500)
      expect(countCharacters(text)).toBeGreaterThan(490)
      expect(text).not.toMatch(/[\u202e\ud800-\udfff]/u)
    }
  })
})
