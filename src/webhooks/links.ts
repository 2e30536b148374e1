import { parsedUrl } from '../parsed-url.ts'

/** An address in a text, from and to so many bytes of its UTF-8. */
export interface Link {
  readonly address: string
  readonly from: number
  readonly to: number
}

/** The web addresses in a text, without the punctuation behind them. One that was cut off is none. */
export function linksIn(text: string): Link[] {
  return Array.from(text.matchAll(/(?<![^\s(])https?:\/\/\S+/gi)).flatMap(({ 0: found, index }) => {
    if (found.includes('…')) return []
    const ends = found.includes('(') ? /[.,;:!?'"\]]+$/ : /[.,;:!?'"\])]+$/
    const address = found.replace(ends, '')
    const from = Buffer.byteLength(text.slice(0, index))
    return parsedUrl(address) ? [{ address, from, to: from + Buffer.byteLength(address) }] : []
  })
}
