import type { DocumentKind } from './live-view.ts'

/** The header of responses that depend on the key. */
export const keyVary = { Vary: 'X-API-Key, Authorization' } as const

export const publicCaching = { 'Cache-Control': 'public, max-age=1' }
/** The key may choose another form. */
const documentHeaders = { ...publicCaching, ...keyVary }
export const privateCaching = { 'Cache-Control': 'private, no-store' }

/** The list depends on the key or session. */
export const listVary = { Vary: `${keyVary.Vary}, Cookie` }

/** Headers of responses with public stations only. */
export const publicHeaders: Readonly<Record<DocumentKind | 'list', Readonly<Record<string, string>>>> = {
  rest: documentHeaders,
  event: documentHeaders,
  line: { ...publicCaching, 'Content-Type': 'text/plain; charset=utf-8' },
  list: { ...publicCaching, ...listVary }
}
