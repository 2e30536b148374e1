import { encodeUrlValue, encodeUrlCharacters } from './addresses.ts'
import { escapeInCode, wordJoiner, withoutMentions } from './plain-text.ts'
import type { TextFormat } from './template.ts'

/**
 * Telegram's legacy Markdown (https://core.telegram.org/bots/api#markdown-style). Backslashes escape only
 * outside of entities, and an entity ends at its own character only, so escaping depends on the entity.
 */
export const telegramMarkdownFormat: TextFormat = {
  write: (value, { before, outline }) => {
    const entity = findOpenEntity(outline)
    if (entity === '(') return encodeUrlCharacters(encodeUrlValue(value, outline.endsWith('(')), /[()]/g)
    const text = withoutMentions(value)
    switch (entity) {
      case '*':
      case '_':
        // Ends the entity, writes the character, and begins the entity again.
        return text.replaceAll(entity, `${entity}\\${entity}${entity}`)
      case '`':
      case '```':
        return escapeInCode(text, entity, before)
      case '[':
        // If no URL follows, the text itself may be taken as one, and that of a user is a mention.
        return text.replaceAll('[', '(').replaceAll(']', ')').replaceAll(':', `:${wordJoiner}`)
      case '':
      default:
        return escapeHtmlText(text, before)
    }
  },
  isMarkup: true
}

const beginnings = ['```', '`', '*', '_', '['] as const
/** What is open: nothing, a block of code, code, bold, italic, the text of a link, its URL. */
type Entity = '' | (typeof beginnings)[number] | '('

/** Escapes a value outside of entities; joiners separate `](` and a final backslash from the text around. */
function escapeHtmlText(value: string, before: string): string {
  const begin = before.endsWith(']') && value.startsWith('(') ? wordJoiner : ''
  const end = value.endsWith('\\') ? wordJoiner : ''
  return begin + value.replace(/[_*`[]/g, '\\$&') + end
}

/** Text outside of entities, and entities that end. */
const closed =
  /^(?:[^_*`[\\]+|\\[_*`[]?|```[^]*?```|`(?!``)[^`]*`|\*[^*]*\*|_[^_]*_|\[[^\]]*\](?!\()|\[[^\]]*\]\([^)]*\))*/

function findOpenEntity(text: string): Entity {
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
export const telegramHtmlFormat: TextFormat = {
  write: (value, { outline }) => {
    const [, begun] = /\shref\s*=\s*["']?([^"'<>\s]*)$/i.exec(outline) ?? []
    const text = begun === undefined ? withoutMentions(value) : encodeUrlValue(value, begun === '')
    return text.replace(/[&<>"']/g, character => entities[character] ?? character)
  },
  isMarkup: true
}
