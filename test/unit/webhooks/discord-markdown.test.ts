import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { discordMarkdown } from '../../../src/webhooks/discord-markdown.ts'
import { fill } from '../../../src/webhooks/template.ts'
import { wickedText } from '../../support/hook-events.ts'

const markdown = (template: string, document: unknown, most = 4_096) =>
  fill(template, document, discordMarkdown, most)

describe('a value', () => {
  test.for([
    [
      '{{ t }}',
      'AC/DC - Back (Live) #1: it\u2019s 50% + 1. A-B',
      'AC/DC - Back (Live) #1: it\u2019s 50% + 1. A-B'
    ],
    ['{{ t }}', 'a_b*c~d`e|f[g]h<i>\\', 'a\\_b\\*c\\~d\\`e\\|f\\[g\\]h\\<i>\\\\'],
    ['{{ t }}', '[x](https://evil.example)', '\\[x\\]\\(https://evil.example)'],
    ['[x]{{ t }}', '(https://evil.example)', '[x]\\(https://evil.example)'],
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
    ['Don`t {{ t }}', 'a*', 'Don`t a\\*'],
    ['\\`{{ t }}`', 'a*', '\\`a\\*`'],
    ['[x](https://x.example/?q={{ t }})', 'a) b_c', '[x](https://x.example/?q=a%29%20b_c)'],
    ['[x]({{ t }})', 'https://radio.example/a_(b)', '[x](https://radio.example/a_%28b%29)'],
    ['[x]({{ t }})', 'javascript:x()', '[x](javascript%3Ax%28%29)']
  ] as const)('in %j: %j', ([template, t, text]) => {
    expect(markdown(template, { t })).toBe(text)
  })

  test('that is an address by its name stays one', () => {
    const document = {
      station: { url: 'https://radio.example/a_b*(c)', listen_url: 'x*' },
      art: 'https://a_b.example'
    }
    expect(markdown('{{ station.url }} {{ art }} {{ station.listen_url }}', document)).toBe(
      'https://radio.example/a_b%2A%28c%29 https://a_b.example x\\*'
    )
  })
})

test('whatever the title, nothing in it is markup, and it reads as it is', () => {
  fc.assert(
    fc.property(wickedText, wickedText, (title, artist) => {
      const text = markdown('{{ title }} by {{ artist }}', { title, artist })
      const unescaped = text.replace(/\\[^0-9A-Za-z\s]/g, 'x')
      expect(unescaped).not.toMatch(/[\\*_~`|[\]<]/)
      expect(unescaped).not.toMatch(/^\s*([#>+-]|\d+\.)/m)
      expect(text.replace(/\\([^0-9A-Za-z\s])/g, '$1')).toBe(`${title} by ${artist}`)

      const code = markdown('`{{ title }}` **{{ artist }}**', { title, artist })
      expect(code).toMatch(/^`[^`]*` \*\*/)

      const [, address = ''] =
        /^\[x\]\(([^()<>\s]*)\)$/.exec(markdown('[x](https://x.example/?q={{ title }})', { title })) ?? []
      expect(new URL(address).searchParams.get('q')).toBe(title)
    }),
    { numRuns: 300 }
  )
})

test('what is too long loses none of the template and divides no escape', () => {
  expect(markdown('**{{ t }}**', { t: '*'.repeat(50) }, 15)).toBe('**\\*\\*\\*\\*\\*…**')
})
