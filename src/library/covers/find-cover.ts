import type { BlockList } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

import { detectImageType } from '../../model/songs/image-type.ts'
import { FetchFault, guardedFetch, type GuardedResponse } from '../../platform/outbound/guarded-fetch.ts'
import { parseUrl, toNetworkList } from '../../platform/outbound/networks.ts'
import { parseRetryAfter } from '../../platform/outbound/retry-after.ts'
import { version } from '../../platform/process/program-files.ts'
import { type Cover, createCover } from '../../stores/db/library/media-rows.ts'
import { buildMusicBrainzUrl, parseReleaseGroups, type SearchedSong } from './search.ts'

/** The services that covers come from. URLs have no trailing slash. */
export interface CoverSource {
  readonly musicBrainzUrl: string
  readonly coverArtArchiveUrl: string
  /** Private networks that may be reached. */
  readonly allowed: BlockList
  /** The URL under which the services can reach the operator. */
  readonly contact: string
  /** From the end of a request to the next one; each redirect is a request. */
  readonly spacingMs: number
}

/** MusicBrainz and the Cover Art Archive. MusicBrainz allows one request per second and requires a contact. */
export const createMusicBrainzSource = (baseUrl: string): CoverSource => ({
  musicBrainzUrl: 'https://musicbrainz.org',
  coverArtArchiveUrl: 'https://coverartarchive.org',
  allowed: toNetworkList([]),
  contact: new URL(baseUrl).origin,
  spacingMs: 1_100
})

/** A lookup failed; a later one may succeed. */
export class LookupFault extends Error {
  /** From `Retry-After`. */
  readonly retryAfterMs: number

  constructor(message: string, retryAfterMs = 0) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

/** A search result with the releases of five popular songs takes about half of it. */
const maxSearchBytes = 2_097_152
const maxCoverBytes = 1_048_576
/** The archive redirects to a server that redirects to another one. */
const maxRedirects = 4

const coverTypes: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/webp'])

type Send = (url: string, maxBytes: number) => Promise<GuardedResponse>

/**
 * Finds the cover of a song. Returns null if there is none, or none that can be used. Throws a `LookupFault` if
 * a service does not answer as expected, and the reason of the signal once it is aborted.
 */
export async function findCover(
  source: CoverSource,
  song: SearchedSong,
  signal: AbortSignal
): Promise<Cover | null> {
  const send = openSpacedFetch(source, signal)
  try {
    for (const id of await searchReleaseGroups(send, source, song)) {
      const cover = await fetchCover(send, `${source.coverArtArchiveUrl}/release-group/${id}/front-500`)
      if (cover) return cover
    }
    return null
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof FetchFault ? new LookupFault(error.message) : error
  }
}

function openSpacedFetch({ allowed, contact, spacingMs }: CoverSource, signal: AbortSignal): Send {
  const headers = { 'user-agent': `Cuewire/${version} ( ${contact} )` }
  let earliestMs = 0
  return async (url, maxBytes) => {
    await sleep(Math.max(0, earliestMs - performance.now()), undefined, { signal })
    try {
      return await guardedFetch(url, { allowed, headers, maxBytes, whenRedirected: 'return', signal })
    } finally {
      earliestMs = performance.now() + spacingMs
    }
  }
}

async function searchReleaseGroups(send: Send, { musicBrainzUrl }: CoverSource, song: SearchedSong) {
  const response = await send(buildMusicBrainzUrl(musicBrainzUrl, song), maxSearchBytes)
  // The query cannot be processed.
  if (response.status === 400) return []
  if (response.status !== 200) throw toLookupFault(response)
  const ids = parseReleaseGroups(response.body.toString('utf8'), song)
  if (ids === null) throw new LookupFault('The answer is not a search result.')
  return ids
}

/** Follows redirects; the address of each target is checked. */
async function fetchCover(send: Send, url: string): Promise<Cover | null> {
  let target = url
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const response = await sendUnlessUnusable(send, target, redirects > 0)
    if (response === null || response.status === 404) return null
    const { status, headers, body } = response
    if (status === 200) return readCover(body)
    if (!redirectStatuses.has(status)) throw toLookupFault(response)
    const next = resolveRedirect(headers.location, target)
    if (next === null) return null
    target = next
  }
  return null
}

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Returns null if the response is too large, or if a redirect leads to a forbidden address. */
async function sendUnlessUnusable(send: Send, url: string, isRedirected: boolean) {
  try {
    return await send(url, maxCoverBytes)
  } catch (error) {
    const word = error instanceof FetchFault ? error.word : null
    if (word === 'too_large' || (word === 'blocked' && isRedirected)) return null
    throw error
  }
}

/** The target of a redirect; null if it is invalid. From https it stays on https. */
function resolveRedirect(location: string | undefined, from: string): string | null {
  const target = location === undefined ? null : parseUrl(location, from)
  if (target && new URL(from).protocol === 'https:' && target.protocol === 'http:') target.protocol = 'https:'
  return target?.href ?? null
}

/** The content determines the type. Null if it is not a picture of a usable type. */
function readCover(bytes: Buffer): Cover | null {
  const type = detectImageType(bytes)
  return type !== null && coverTypes.has(type) ? createCover(bytes, type) : null
}

function toLookupFault({ status, headers }: GuardedResponse): LookupFault {
  const retryAfterMs = parseRetryAfter(status, headers['retry-after'], Date.now()) ?? 0
  return new LookupFault(`The server answered ${status}.`, retryAfterMs)
}
