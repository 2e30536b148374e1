import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { removeControlCharacters } from '../../../src/webhooks/format/plain-text.ts'
import { telegramMarkdownFormat } from '../../../src/webhooks/format/telegram.ts'
import { fillTemplate } from '../../../src/webhooks/format/template.ts'
import { hostileText } from '../../support/hook-events.ts'
import { sized } from '../../support/tier.ts'

const markdown = (template: string, document: unknown, most = 4_096) =>
  fillTemplate(template, document, telegramMarkdownFormat, most)

interface Entity {
  readonly kind: string
  readonly text: string
  readonly address?: string
}

/**
 * Parses a text as Telegram (TDLib) does, into plain text and entities. Throws if Telegram would refuse it.
 */
function readByTelegram(text: string): { plain: string; entities: Entity[] } {
  const entities: Entity[] = []
  let plain = ''
  let rest = text
  while (rest !== '') {
    const [, escaped] = /^\\([_*`[])/.exec(rest) ?? []
    const [begin] = /^(```|[_*`[])/.exec(rest) ?? []
    if (escaped !== undefined || begin === undefined) {
      const [character = ''] = escaped === undefined ? Array.from(rest) : [escaped]
      plain += character
      rest = rest.slice(escaped === undefined ? character.length : 2)
      continue
    }
    const end = begin === '[' ? ']' : begin
    const length = rest.indexOf(end, begin.length)
    if (length === -1) throw new Error(`no end of ${begin} in ${text}`)
    const inner = rest.slice(begin.length, length)
    rest = rest.slice(length + end.length)
    if (begin === '```') {
      const code = inner.replace(/^[^\s`]+(?=\s)/, '').replace(/^\n/, '')
      plain += code
      entities.push({ kind: begin, text: code })
      continue
    }
    plain += inner
    if (inner === '') continue
    if (begin !== '[') entities.push({ kind: begin, text: inner })
    else {
      const [whole = '', address = inner] = /^\(([^)]*)\)?/.exec(rest) ?? []
      entities.push({ kind: begin, text: inner, address })
      rest = rest.slice(whole.length)
    }
  }
  return { plain, entities }
}

/** Replaces invisible and look-alike characters by those that they stand for. */
const meant = (text: string) =>
  removeControlCharacters(text).replaceAll('\u2060', '').replaceAll('\u02cb', '`')

describe('a value', () => {
  const t = 'a_b*c`d[e]f(g)\\'
  test.for([
    ['{{ t }}', 'a\\_b\\*c\\`d\\[e]f(g)\\\u2060'],
    ['{{ t }}*x*', 'a\\_b\\*c\\`d\\[e]f(g)\\\u2060*x*'],
    ['*{{ t }}*', '*a_b*\\**c`d[e]f(g)\\*'],
    ['_{{ t }}_', '_a_\\__b*c`d[e]f(g)\\_'],
    ['`{{ t }}`', '`a_b*c\u02cbd[e]f(g)\\`'],
    ['```\n{{ t }}\n```', '```\na_b*c\u02cbd[e]f(g)\\\n```'],
    ['```{{ t }}\n```', '```\na_b*c\u02cbd[e]f(g)\\\n```'],
    ['``` ` ``` [x](y) {{ t }}', '``` ` ``` [x](y) a\\_b\\*c\\`d\\[e]f(g)\\\u2060'],
    [
      '[{{ t }}](https://x.example/?q={{ t }})',
      '[a_b*c`d(e)f(g)\\](https://x.example/?q=a_b*c%60d%5Be%5Df%28g%29%5C)'
    ],
    ['\\*{{ t }} *{{ t }}*', '\\*a\\_b\\*c\\`d\\[e]f(g)\\\u2060 *a_b*\\**c`d[e]f(g)\\*']
  ] as const)('in %j', ([template, text]) => {
    expect(markdown(template, { t })).toBe(text)
  })

  test('in the URL of a link is the whole URL only if it is an http address', () => {
    const document = { url: 'https://radio.example/a_(b)', bad: 'tg://user?id=1' }
    expect(markdown('[x]({{ url }})', document)).toBe('[x](https://radio.example/a_%28b%29)')
    expect(markdown('[x]({{ bad }})', document)).toBe('[x](tg%3A%2F%2Fuser%3Fid%3D1)')
  })

  test('after brackets creates no link and no mention', () => {
    expect(markdown('[x]{{ t }}', { t: '(https://evil.example)' })).toBe('[x]\u2060(https://evil.example)')
    expect(markdown('{{ t }} *{{ t }}*', { t: '@dj' })).toBe('@\u2060dj *@\u2060dj*')
  })

  test('in brackets without a URL does not make a link', () => {
    expect(markdown('[{{ t }}]', { t: 'tg://user?id=1' })).toBe('[tg:\u2060//user?id=1]')
  })
})

test('Telegram accepts any title, shows it as it is, and finds the entities of the template', () => {
  fc.assert(
    fc.property(hostileText, hostileText, (title, artist) => {
      const document = { title, artist }
      const text = (template: string) => readByTelegram(markdown(template, document))

      const bare = text('{{ title }} {{artist}}')
      expect([meant(bare.plain), bare.entities]).toEqual([meant(`${title} ${artist}`), []])

      const styled = text('*{{ title }}* by _{{ artist }}_!')
      expect(meant(styled.plain)).toBe(meant(`${title} by ${artist}!`))
      const read = (kind: string) =>
        meant(styled.entities.map(each => (each.kind === kind ? each.text : '')).join(''))
      expect(styled.entities.every(({ kind }) => kind === '*' || kind === '_')).toBe(true)
      expect(read('*')).toBe(meant(title).replaceAll('*', ''))
      expect(read('_')).toBe(meant(artist).replaceAll('_', ''))

      for (const block of ['```{{ artist }}```', '```\n{{ artist }}```']) {
        const code = text(`\`{{ title }}\` ${block}`)
        expect(code.entities.map(({ kind }) => kind)).toEqual(['`', '```'])
        expect(meant(code.plain)).toBe(meant(`${title} ${artist}`))
      }

      const link = text('[{{ title }}](https://x.example/?q={{ artist }}) {{ artist }}')
      const [entity, ...others] = link.entities
      expect([entity?.kind, others]).toEqual(['[', []])
      expect(new URL(entity?.address ?? '').searchParams.get('q')).toBe(removeControlCharacters(artist))

      const [bracketed] = text('[{{ title }}]').entities
      expect(bracketed?.address).not.toMatch(/^(tg|https?):\/\//)
    }),
    { numRuns: sized({ quick: 80, deep: 2_000 }) }
  )
})

test('a truncated text is accepted as well', () => {
  fc.assert(
    fc.property(hostileText, fc.integer({ min: 40, max: 80 }), (title, most) => {
      const text = markdown('*{{ t }}* [{{ t }}](https://x.example)', { t: title.repeat(9) }, most)
      expect(text.length).toBeLessThanOrEqual(2 * most)
      expect(readByTelegram(text).entities.at(-1)?.address).toBe('https://x.example')
    })
  )
})
