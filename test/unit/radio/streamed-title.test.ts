import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { parseStreamedTitle } from '../../../src/radio/streamed-title.ts'
import { anyText } from '../../support/any-text.ts'

describe('text is split at its first separator', () => {
  test.for([
    ['The Low Signals - Night Ferry', 'The Low Signals', 'Night Ferry'],
    ['Nils Okada - Low - Water', 'Nils Okada', 'Low - Water'],
    ['Night Ferry', '', 'Night Ferry'],
    ['Jean-Luc Gris - Nord-Sud', 'Jean-Luc Gris', 'Nord-Sud'],
    [' - The Low Signals - ', '', 'The Low Signals'],
    ['Wren -  - Tide', 'Wren', 'Tide'],
    [`Wren - ${'-'.repeat(300)}Tide`, 'Wren', 'Tide'],
    ['- ', '', ''],
    ['', '', ''],
    ['1999', '', '1999'],
    ['Ann\0 -\r\nTwo', 'Ann', 'Two'],
    ['\u00A0Wren - Tide\uFEFF', 'Wren', 'Tide']
  ] as const)('%j', ([text, artist, title]) => {
    expect(parseStreamedTitle({ text })).toEqual({ artist, title })
  })
})

describe('entities are decoded once', () => {
  test.for([
    ['Tom &amp; Ann - Rain', 'Tom & Ann', 'Rain'],
    ['Tom &amp;amp; Ann - Rain', 'Tom &amp; Ann', 'Rain'],
    ['Beyonc&eacute; - &#8220;D&#xe9;j&agrave;&#8221;', 'Beyonc\u00E9', '\u201CD\u00E9j\u00E0\u201D'],
    ['AT&T &copy Tom - R&B; &nonsense; &', 'AT&T &copy Tom', 'R&B; &nonsense; &'],
    ['A &#45; B', 'A', 'B'],
    ['&#0; &#xD800;', '', '']
  ] as const)('%s', ([text, artist, title]) => {
    expect(parseStreamedTitle({ text })).toEqual({ artist, title })
  })
})

test('artist and title that are both present are never split', () => {
  expect(parseStreamedTitle({ text: 'x - y', artist: ' A - B ', title: '- C - D' })).toEqual({
    artist: 'A - B',
    title: 'C - D'
  })
})

test('text takes precedence over an artist or a title alone, which are split like text', () => {
  expect(parseStreamedTitle({ text: 'A - B', title: 'T' })).toEqual({ artist: 'A', title: 'B' })
  expect(parseStreamedTitle({ text: '-', artist: '-', title: 'A - B' })).toEqual({ artist: 'A', title: 'B' })
  expect(parseStreamedTitle({ title: 'Live Show' })).toEqual({ artist: '', title: 'Live Show' })
  expect(parseStreamedTitle({ artist: 'Wren', title: ' ' })).toEqual({ artist: '', title: 'Wren' })
})

test('any result is bounded, well formed, on one line and trimmed', () => {
  const sent = fc.oneof(
    fc.constant(''),
    anyText({ maxLength: 600 }),
    fc
      .array(fc.constantFrom(' - ', '&amp;', '&#0;', '&#45;', '-', 'x', ' '), { maxLength: 600 })
      .map(all => all.join(''))
  )
  fc.assert(
    fc.property(sent, sent, sent, (text, artist, title) => {
      const cleaned = parseStreamedTitle({ text, artist, title })
      for (const part of [cleaned.artist, cleaned.title]) {
        expect(Array.from(part).length).toBeLessThanOrEqual(255)
        expect(part).not.toMatch(/[\p{Cc}\p{Cs}]|^[\s-]|[\s-]$/u)
      }
      expect(cleaned.artist !== '' && cleaned.title === '').toBe(false)
    })
  )
})

test('a huge text is cheap', () => {
  for (const unit of [' ', '-', ' - ', '&amp;', 'x']) {
    const { artist, title } = parseStreamedTitle({ text: unit.repeat(4_000_000 / unit.length) })
    expect(artist.length + title.length).toBeLessThanOrEqual(510)
  }
})
