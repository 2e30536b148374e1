import { readFile, stat } from 'node:fs/promises'
import { isIPv4, isIPv6 } from 'node:net'

import { type CountryResponse, Reader } from 'maxmind'

import { errorCodeOf } from '../platform/runtime/errors.ts'
import type { Logger } from '../platform/runtime/log.ts'

/** Finds the country of an address: ISO 3166-1 alpha-2, empty if unknown. */
export interface CountryFinder {
  readonly find: (address: string) => string
}

/** Without a database every country is unknown. */
export const noCountryFinder: CountryFinder = { find: () => '' }

/** A database of countries and cities has some hundred megabytes at most. */
const maxBytes = 512 * 1024 * 1024
const checkMs = 60_000

/**
 * Reads a database in the format of MaxMind (GeoLite2, GeoIP2 or DB-IP; countries or cities). Throws an error with a
 * reason for the operator if it cannot be used.
 */
export async function readCountryDatabase(path: string): Promise<CountryFinder> {
  const reader = await openReader(path)
  const { ipVersion, databaseType } = reader.metadata
  if (!/country|city|enterprise/i.test(databaseType))
    throw new Error(`it is a database of the type ${databaseType}, which has no countries`)
  return {
    find: address => {
      const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
      const isKnownKind = isIPv4(plain) || (ipVersion === 6 && isIPv6(plain))
      const code = isKnownKind ? (reader.get(plain)?.country?.iso_code ?? '') : ''
      return /^[A-Z]{2}$/.test(code) ? code : ''
    }
  }
}

/** Without the cache of the package, whose keys would be addresses of listeners. */
async function openReader(path: string): Promise<Reader<CountryResponse>> {
  try {
    const { size } = await stat(path)
    if (size > maxBytes) throw new Error(`it is larger than ${maxBytes / 1024 ** 2} MB`)
    return new Reader<CountryResponse>(await readFile(path))
  } catch (error) {
    throw new Error(explainFailure(error), { cause: error })
  }
}

function explainFailure(error: unknown): string {
  const code = errorCodeOf(error)
  if (code === 'ENOENT') return 'it does not exist'
  if (code !== '') return `it is not readable (${code})`
  return `it is not a database in the format of MaxMind (${error instanceof Error ? error.message : ''})`
}

/**
 * Opens the database at `path`; it is read again within a minute when the file has changed. A file that is missing or
 * damaged is logged once, and countries are unknown, or those of the last database that could be read.
 */
export async function openCountryDatabase(path: string, log: Pick<Logger, 'info' | 'warn'>) {
  let current = noCountryFinder
  let version: string | null = null
  let problem = ''

  async function update(): Promise<void> {
    const found = await describeVersion(path)
    if (found === version) return
    version = found
    try {
      current = await readCountryDatabase(path)
      problem = ''
      log.info({ path }, 'database of countries read')
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      if (reason !== problem)
        log.warn({ path, reason }, 'countries of listeners are unknown: see GEO_DATABASE')
      problem = reason
    }
  }

  await update()
  const timer = setInterval(() => void update(), checkMs).unref()
  return {
    find: (address: string) => current.find(address),
    update,
    stop: () => clearInterval(timer)
  }
}

/** A text that differs for another content of the file; empty if it is not readable. */
async function describeVersion(path: string): Promise<string> {
  try {
    const { ino, size, mtimeMs } = await stat(path)
    return [ino, size, mtimeMs].join(' ')
  } catch {
    return ''
  }
}
