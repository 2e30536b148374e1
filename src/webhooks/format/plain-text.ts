/** Inserts an invisible joiner after each `@`, so that `@name` mentions nobody. */
export const withoutMentions = (text: string): string => text.replaceAll('@', `@${wordJoiner}`)

/** WORD JOINER: has no width, allows no line break, and is part of no name or markup. */
export const wordJoiner = '\u2060'

/** Whether a text has no visible characters. Receivers refuse such messages. */
export const isBlank = (text: string): boolean => !/[^\s\p{Cc}\p{Cf}]/u.test(text)

/**
 * Removes what would affect the text around a value: controls except line feeds and tabs, and overrides and
 * isolates of the text direction. Removes lone surrogates, too.
 */
export function removeControlCharacters(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]|[\u202A-\u202E\u2066-\u2069\uFFFD]|\p{Surrogate}/gu, '')
}

/**
 * Writes a value inside code that `opening` backticks began. Backticks cannot be escaped there, so a similar
 * character replaces them. On the first line of a block a word would name a language, so a line feed is
 * prepended.
 */
export function escapeInCode(value: string, opening: string, before: string): string {
  const text = value.replaceAll('`', '\u02cb')
  return opening === '```' && /```[^\s`]*$/.test(before) ? `\n${text}` : text
}
