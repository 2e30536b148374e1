const fence = '```'

/**
 * A value in code that these backticks have opened. Nothing can stand for a backtick but another character that looks
 * like it. On the first line of a block a word would be the name of a language, so the value begins the second.
 */
export function inCode(value: string, opening: string, before: string): string {
  const text = value.replaceAll('`', '\u02cb')
  return opening === fence && /```[^\s`]*$/.test(before) ? `\n${text}` : text
}
