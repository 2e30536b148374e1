import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { dataElement, html } from '../../../src/pages/page.ts'
import { anyCharacter } from '../../support/any-text.ts'

// Under its own name the formatter would write its templates anew.
const write = html

test('what is put into a template is text, unless it is HTML; nothing is nothing', () => {
  const name = `<b>"R&B" 'n'</b>`
  const rows = [1, 2].map(each => write`<li>${each}</li>`)
  expect(write`<p title="${name}">${name}</p>${rows}${null}`.html).toBe(
    '<p title="&#60;b&#62;&#34;R&#38;B&#34; &#39;n&#39;&#60;/b&#62;">&#60;b&#62;&#34;R&#38;B&#34; &#39;n&#39;&#60;/b&#62;</p><li>1</li><li>2</li>'
  )
})

test('no text gets out of its place', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), text => {
      const { html: written } = html`<a title="${text}">${text}</a>`
      expect(written.match(/[<>"]/g)).toEqual(['<', '"', '"', '>', '<', '>'])
    })
  )
})

test('data arrives as it was, and cannot end its element', () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ stringUnit: anyCharacter }),
      fc.constantFrom('', '</script>', '<!--', '<script'),
      (value, text) => {
        const data = { value, text }
        const { html: written } = dataElement('shown', JSON.stringify(data))
        const [, inside = '', after] =
          /^<script type="application\/json" id="shown">([^<]*)<\/script>(.*)$/s.exec(written) ?? []
        expect(JSON.parse(inside)).toEqual(JSON.parse(JSON.stringify(data)))
        expect(after).toBe('')
      }
    )
  )
})
