import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { discordMarkdownFormat } from '../../../src/webhooks/format/discord-markdown.ts'
import { removeControlCharacters } from '../../../src/webhooks/format/plain-text.ts'
import { fillTemplate } from '../../../src/webhooks/format/template.ts'
import { hostileText } from '../../support/hook-events.ts'
import { sized } from '../../support/tier.ts'

const markdown = (template: string, document: unknown, most = 4_096) =>
  fillTemplate(template, document, discordMarkdownFormat, most)

/**
 * Parses a text as Discord does, into plain text and links. Throws if it contains other markup.
 */
function readByDiscord(text: string): { plain: string; links: string[] } {
  const links: string[] = []
  let plain = ''
  let rest = text
  const begins = (pattern: RegExp) => pattern.exec(rest) ?? []
  while (rest !== '') {
    const [escape, meant] = begins(/^\\([^0-9A-Za-z\s])/)
    const [link] = begins(/^https?:\/\/[^\s<]+[^<.,:;"')\]\s]/i)
    const [line] = plain === '' || plain.endsWith('\n') ? begins(/^\s*(#{1,3}|-#|>|>>>|[-*+]|\d+\.)\s/) : []
    const [markup] = begins(/^(\*|_|~~|\|\||`|\[[^\]]*\]\(|<|:[^\s:]+:)/)
    if (escape === undefined && (line ?? markup) !== undefined)
      throw new Error(`${String(line ?? markup)} in ${text}`)
    if (link !== undefined) links.push(link)
    const [character = ''] = Array.from(rest)
    const taken = escape ?? link ?? character
    plain += meant ?? taken
    rest = rest.slice(taken.length)
  }
  return { plain, links }
}

describe('a value', () => {
  test.for([
    [
      '{{ t }}',
      'AC/DC - Back (Live) #1: it\u2019s 50% + 1. A-B',
      'AC/DC - Back (Live) #1: it\u2019s 50% + 1. A-B'
    ],
    ['{{ t }}', 'a_b*c~d`e|f[g]h<i>\\', 'a\\_b\\*c\\~d\\`e\\|f\\[g\\]h\\<i>\\\\'],
    ['{{ t }}', '[x](https://evil.example)', '\\[x\\]\\(https\\://evil.example)'],
    ['[x]{{ t }}', '(https://evil.example)', '[x]\\(https\\://evil.example)'],
    ['{{ t }}', 'Now: :joy: at 3:15', 'Now: \\:joy: at 3\\:15'],
    [
      '{{ t }}',
      '# one\n> two\n - three\n4. four\nfive # six',
      '\\# one\n\\> two\n \\- three\n4\\. four\nfive # six'
    ],
    ['On air: {{ t }}', '# one', 'On air: # one'],
    ['On air:\n**{{ t }}**', '# one', 'On air:\n**\\# one**'],
    ['\\{{ t }} \\\\{{ t }}', '*', '\\* \\\\\\*'],
    ['`{{ t }}`', 'a*`b', '`a*\u02cbb`'],
    ['```\n{{ t }}\n``` {{ t }}', 'a*`b', '```\na*\u02cbb\n``` a\\*\\`b'],
    ['```{{ t }}\n```', 'Prince\nKiss', '```\nPrince\nKiss\n```'],
    ['Don`t {{ t }}', 'a*', 'Don`t a\\*'],
    ['\\`{{ t }}`', 'a*', '\\`a\\*`'],
    ['[x](https://x.example/?q={{ t }})', 'a) b_c', '[x](https://x.example/?q=a%29%20b_c)'],
    ['[x]({{ t }})', 'https://radio.example/a_(b)', '[x](https://radio.example/a_%28b%29)'],
    ['[x]({{ t }})', 'javascript:x()', '[x](javascript%3Ax%28%29)'],
    ['https://x.example/?q={{ t }} {{ t }}', 'a b_c', 'https://x.example/?q=a%20b_c a b\\_c'],
    ['*{{ t }}* (https://x.example/{{ t }})', 'a*/b', '*a\\*/b* (https://x.example/a%2A%2Fb)']
  ] as const)('in %j: %j', ([template, t, text]) => {
    expect(markdown(template, { t })).toBe(text)
  })

  test('of a variable named as a URL stays a URL', () => {
    const document = {
      station: { url: 'https://radio.example/a_b*(c)', listen_url: 'x*' },
      art: 'https://a_b.example'
    }
    expect(markdown('{{ station.url }} {{ art }} {{ station.listen_url }}', document)).toBe(
      'https://radio.example/a_b%2A%28c%29 https://a_b.example x\\*'
    )
  })
})

test('a title is shown as it is, without markup or links', () => {
  fc.assert(
    fc.property(hostileText, hostileText, (title, artist) => {
      const document = { title, artist, station: { name: 'expanded' } }
      const read = readByDiscord(markdown('{{ title }} by {{ artist }}', document))
      expect(read).toEqual({
        plain: `${removeControlCharacters(title)} by ${removeControlCharacters(artist)}`,
        links: []
      })

      const code = markdown('`{{ title }}` **{{ artist }}**', document)
      expect(code).toMatch(/^`[^`]*` \*\*/)

      for (const template of ['[x](https://x.example/?q={{ title }})', 'https://x.example/?q={{ title }}']) {
        const [, address = ''] = /^(?:\[x\]\()?([^()<>\s]*)\)?$/.exec(markdown(template, document)) ?? []
        expect(new URL(address).searchParams.get('q')).toBe(removeControlCharacters(title))
      }
    }),
    { numRuns: sized({ quick: 80, deep: 2_000 }) }
  )
})

test('a truncated text keeps the whole template and divides no escape', () => {
  expect(markdown('**{{ t }}**', { t: '*'.repeat(50) }, 15)).toBe('**\\*\\*\\*\\*\\*…**')
})
