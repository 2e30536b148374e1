import type { Format } from './template.ts'

/** Text in which no character has a meaning. */
export const plainText: Format = { write: value => value, isMarkup: false }

/** Text of a network where `@name` tells somebody: those who name songs tell nobody. */
export const postText: Format = { write: withoutMentions, isMarkup: false }

/** A text whose `@name` mentions nobody: an invisible joiner separates the two. */
export function withoutMentions(text: string): string {
  return text.replaceAll('@', `@${joiner}`)
}

/** Takes no room, breaks no line, and belongs to no name or markup. */
export const joiner = '\u2060'

/** Whether a text shows nothing, which is refused as a message. */
export function isBlank(text: string): boolean {
  return !/[^\s\p{Cc}\p{Cf}]/u.test(text)
}

/**
 * A text without what would change others around it: controls but line feeds and tabs, and what turns the
 * direction of reading. Marks of direction stay. Half of a surrogate pair becomes the replacement character.
 */
export function normalizeText(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]|[\u202A-\u202E\u2066-\u2069]/gu, '')
    .replace(/\p{Surrogate}/gu, '\uFFFD')
}

const fence = '```'

/**
 * A value in code that these backticks have opened. Nothing can stand for a backtick but another character
 * that looks like it. On the first line of a block a word would be the name of a language, so the value
 * begins the second.
 */
export function inCode(value: string, opening: string, before: string): string {
  const text = value.replaceAll('`', '\u02cb')
  return opening === fence && /```[^\s`]*$/.test(before) ? `\n${text}` : text
}
