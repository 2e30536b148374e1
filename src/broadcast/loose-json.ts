import { AnswerFault } from './answer-fault.ts'

const token = /"[^"\\]*(?:\\[^][^"\\]*)*(?:"|\\?$)|[^\s"{}[\],:]+/g
const literals = new Set(['true', 'false', 'null'])

/**
 * Reads JSON in UTF-8 as streaming servers write it: a number may be anything that somebody's title was taken for
 * (`"title": -`, `1.`), and texts may hold control characters. Numbers come as texts, spelled as they were. What cannot
 * be read throws an `AnswerFault`.
 */
export function parseLooseJson(bytes: Uint8Array): unknown {
  const text = new TextDecoder().decode(bytes).replace(/\p{Cc}/gu, ' ')
  const quoted = text.replace(token, found =>
    found.startsWith('"') || literals.has(found) ? found : JSON.stringify(found)
  )
  try {
    return JSON.parse(quoted)
  } catch {
    throw new AnswerFault('The answer is no JSON.')
  }
}
