import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { removeControlCharacters } from '../../../src/webhooks/format/plain-text.ts'
import { telegramHtmlFormat } from '../../../src/webhooks/format/telegram.ts'
import { fillTemplate } from '../../../src/webhooks/format/template.ts'
import { hostileText } from '../../support/hook-events.ts'

const html = (template: string, document: unknown, most = 4_096) =>
  fillTemplate(template, document, telegramHtmlFormat, most)
const read = (text: string) =>
  text
    .replaceAll('\u2060', '')
    .replace(
      /&lt;|&gt;|&quot;|&#39;/g,
      entity => ({ '&lt;': '<', '&gt;': '>', '&quot;': '"' })[entity] ?? "'"
    )
    .replaceAll('&amp;', '&')

test('markup characters are escaped as entities', () => {
  expect(html('<b>{{ t }}</b>', { t: `<i>"A" & 'B'</i>` })).toBe(
    '<b>&lt;i&gt;&quot;A&quot; &amp; &#39;B&#39;&lt;/i&gt;</b>'
  )
})

test('an address stays an http address, and any other value becomes a part of one', () => {
  const document = { url: 'https://radio.example/?a=1&b="2"', bad: 'tg://user?id=1', t: 'A & B' }
  expect(html('<a href="{{ url }}">x</a>', document)).toBe(
    '<a href="https://radio.example/?a=1&amp;b=&quot;2&quot;">x</a>'
  )
  expect(html('<a href="{{ bad }}">x</a>', document)).toBe('<a href="tg%3A%2F%2Fuser%3Fid%3D1">x</a>')
  expect(html('<a href="https://x.example/?q={{ t }}">x</a>', document)).toBe(
    '<a href="https://x.example/?q=A%20%26%20B">x</a>'
  )
})

test('the tags are those of the template and the text is the title, for any title', () => {
  fc.assert(
    fc.property(hostileText, t => {
      const [, inner = ''] = /^<b>([^<>"']*)<\/b>$/.exec(html('<b>{{ t }}</b>', { t })) ?? []
      expect(read(inner)).toBe(removeControlCharacters(t).replaceAll('\u2060', ''))
      const link = /^<a href="https:\/\/x\.example\/([^<>"'\s]*)">([^<>"']*)<\/a>$/
      expect(html('<a href="https://x.example/{{ t }}">{{ t }}</a>', { t })).toMatch(link)
    })
  )
})

test('a truncated text loses no tag and divides no entity', () => {
  expect(html('<b>{{ t }}</b>', { t: '<'.repeat(50) }, 20)).toBe('<b>&lt;&lt;&lt;…</b>')
})
