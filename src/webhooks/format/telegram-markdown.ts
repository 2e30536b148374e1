import { addressPart, encodedIn } from '../redact.ts'
import { inCode, joiner, withoutMentions } from './plain-text.ts'
import type { Format } from './template.ts'

/**
 * Telegram's first Markdown (https://core.telegram.org/bots/api#markdown-style). A backslash works outside of
 * entities only, and nothing in an entity but its end means anything; so what a value must be depends on
 * where it stands.
 */
export const telegramMarkdown: Format = {
  write: (value, { before, outline }) => {
    const entity = entityOpenIn(outline)
    if (entity === '(') return encodedIn(addressPart(value, outline.endsWith('(')), /[()]/g)
    return written(withoutMentions(value), entity, before)
  },
  isMarkup: true
}

const beginnings = ['```', '`', '*', '_', '['] as const
/** What is open: nothing, a block of code, code, bold, italic, the text of a link, its address. */
type Entity = '' | (typeof beginnings)[number] | '('

function written(value: string, entity: Exclude<Entity, '('>, before: string): string {
  switch (entity) {
    case '*':
    case '_':
      // The entity ends, the character stands between, and the entity begins again.
      return value.replaceAll(entity, `${entity}\\${entity}${entity}`)
    case '`':
    case '```':
      return inCode(value, entity, before)
    case '[':
      // Without an address behind it the text is the address, and that of a user would mention him.
      return value.replaceAll('[', '(').replaceAll(']', ')').replaceAll(':', `:${joiner}`)
    case '':
    default:
      return escaped(value, before)
  }
}

/**
 * Neither what stands before nor what follows makes markup of it, which `](` and a backslash at its end
 * would.
 */
function escaped(value: string, before: string): string {
  const begin = before.endsWith(']') && value.startsWith('(') ? joiner : ''
  const end = value.endsWith('\\') ? joiner : ''
  return begin + value.replace(/[_*`[]/g, '\\$&') + end
}

/** As much of a text as is outside of entities, or in entities that end in it. */
const closed =
  /^(?:[^_*`[\\]+|\\[_*`[]?|```[^]*?```|`(?!``)[^`]*`|\*[^*]*\*|_[^_]*_|\[[^\]]*\](?!\()|\[[^\]]*\]\([^)]*\))*/

function entityOpenIn(text: string): Entity {
  const rest = text.replace(closed, '')
  if (/^\[[^\]]*\]\(/.test(rest)) return '('
  return beginnings.find(beginning => rest.startsWith(beginning)) ?? ''
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;'
}

/** Telegram's HTML (https://core.telegram.org/bots/api#html-style). */
export const telegramHtml: Format = {
  write: (value, { outline }) => {
    const [, begun] = /\shref\s*=\s*["']?([^"'<>\s]*)$/i.exec(outline) ?? []
    const text = begun === undefined ? withoutMentions(value) : addressPart(value, begun === '')
    return text.replace(/[&<>"']/g, character => entities[character] ?? character)
  },
  isMarkup: true
}
