import { addressPart } from './address-text.ts'
import { unmentioning } from './plain-text.ts'
import type { Format } from './template.ts'

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
    const text = begun === undefined ? unmentioning(value) : addressPart(value, begun === '')
    return text.replace(/[&<>"']/g, character => entities[character] ?? character)
  },
  isMarkup: true
}
