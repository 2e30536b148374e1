import type { Format } from './template.ts'

/** Text in which no character has a meaning. */
export const plainText: Format = { write: value => value, isMarkup: false }

/** Text of a network where `@name` tells somebody: those who name songs tell nobody. */
export const postText: Format = { write: unmentioning, isMarkup: false }

/** A text whose `@name` mentions nobody: an invisible joiner separates the two. */
export function unmentioning(text: string): string {
  return text.replaceAll('@', `@${joiner}`)
}

/** Takes no room, breaks no line, and belongs to no name or markup. */
export const joiner = '\u2060'
