export type Headers = readonly (readonly [name: string, value: string])[]

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
