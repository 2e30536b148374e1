import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { jsonScript, html } from '../../../src/pages/page.ts'
import { anyCharacter } from '../../support/any-text.ts'

// The formatter would change templates with the tag html.
const render = html

test('values in a template are escaped unless they are HTML; null is empty', () => {
  const name = `<b>"R&B" 'n'</b>`
  const rows = [1, 2].map(each => render`<li>${each}</li>`)
  expect(render`<p title="${name}">${name}</p>${rows}${null}`.html).toBe(
    '<p title="&#60;b&#62;&#34;R&#38;B&#34; &#39;n&#39;&#60;/b&#62;">&#60;b&#62;&#34;R&#38;B&#34; &#39;n&#39;&#60;/b&#62;</p><li>1</li><li>2</li>'
  )
})

test('no text can leave its element or attribute', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), text => {
      const { html: rendered } = html`<a title="${text}">${text}</a>`
      expect(rendered.match(/[<>"]/g)).toEqual(['<', '"', '"', '>', '<', '>'])
    })
  )
})

test('data is unchanged and cannot close its element', () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ stringUnit: anyCharacter }),
      fc.constantFrom('', '</script>', '<!--', '<script'),
      (value, text) => {
        const data = { value, text }
        const { html: rendered } = jsonScript('shown', JSON.stringify(data))
        const [, inside = '', after] =
          /^<script type="application\/json" id="shown">([^<]*)<\/script>(.*)$/s.exec(rendered) ?? []
        expect(JSON.parse(inside)).toEqual(JSON.parse(JSON.stringify(data)))
        expect(after).toBe('')
      }
    )
  )
})
