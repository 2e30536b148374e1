export type Headers = readonly (readonly [name: string, value: string])[]

export const jsonType = 'application/json; charset=utf-8'

/** The same headers, with one more name in `Vary`. One line says it all: some caches look at the first one only. */
export function withVary(headers: Headers, vary: string): Headers {
  if (vary === '') return headers
  const isVary = ([name]: Headers[number]) => name.toLowerCase() === 'vary'
  const names = [...headers.filter(isVary).map(([, value]) => value), vary]
  return [...headers.filter(header => !isVary(header)), ['Vary', names.join(', ')]]
}

/**
 * Header lines that follow another header, each with a line break before it. A block like this goes to
 * uWebSockets.js as the rest of one value: a call into native code per header costs more than the answer itself.
 * Line breaks inside a value become spaces, so that no value can bring headers of its own.
 */
export function renderLines(headers: Headers): string {
  let lines = ''
  for (const [name, value] of headers) lines += `\r\n${name}: ${breaks.test(value) ? flatten(value) : value}`
  return lines
}

const breaks = /[\r\n\0]/

const flatten = (value: string) => value.replace(/[\r\n\0]+/g, ' ')

/** Header lines of every answer: browsers must not take it for another type than it says. */
export const commonLines = renderLines([['X-Content-Type-Options', 'nosniff']])
