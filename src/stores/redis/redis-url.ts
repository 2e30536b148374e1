import { readFileSync } from 'node:fs'
import type { ConnectionOptions as TlsOptions } from 'node:tls'

import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { describeError } from '../../platform/runtime/store-errors.ts'
import { splitRedisUrls } from './redis-place.ts'

interface Host {
  readonly host: string
  readonly port: number
}

/** What one URL of REDIS_URL says. Texts are decoded; empty ones were not given. */
export interface RedisUrl {
  /** The server, or the Sentinels. */
  readonly hosts: readonly [Host, ...Host[]]
  readonly username: string
  readonly password: string
  readonly database: number
  /** 0: IPv4 or IPv6. */
  readonly family: number
  readonly isTls: boolean
  /** Paths of PEM files. */
  readonly caFile: string
  readonly certificateFile: string
  readonly keyFile: string
  /** How to ask the Sentinels for the primary. Null: the URL names the server itself. */
  readonly sentinel: { readonly name: string; readonly username: string; readonly password: string } | null
}

/**
 * What is wrong with a URL, as the end of a sentence about REDIS_URL. Never contains a part of it that may be secret.
 */
class RedisUrlProblem extends Error {}

const defaultPort = 6_379
const defaultSentinelPort = 26_379

const form = /^(rediss?)(\+sentinel)?:\/\/(?:([^/?#]*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?(#[^]*)?$/i
const hostForm = /^(\[[\da-f:.%]+\]|[^\s:,[\]%]+)(?::(\d{1,5}))?$/i
const notAUrl =
  'is not a URL that begins with redis://, rediss://, redis+sentinel:// or rediss+sentinel://, nor a comma-separated list of such URLs of one Redis Cluster'

const parameters = [
  'db',
  'family',
  'ssl_ca_certs',
  'ssl_certfile',
  'ssl_keyfile',
  'sentinel_username',
  'sentinel_password'
] as const

/**
 * Parses one URL: `redis://USER:PASSWORD@HOST:PORT/DATABASE`, or
 * `redis+sentinel://USER:PASSWORD@HOST:PORT,HOST:PORT/PRIMARY/DATABASE`; `rediss` for TLS. Throws an `Error` whose
 * message ends a sentence about REDIS_URL.
 */
export function parseRedisUrl(text: string): RedisUrl {
  const [, scheme, sentinelSuffix, access = '', hostList = '', path = '', query = '', fragment] =
    form.exec(text) ?? []
  if (scheme === undefined) throw new RedisUrlProblem(notAUrl)
  if (fragment !== undefined || `${path}?${query}`.includes('@'))
    throw new RedisUrlProblem(
      'has a /, ?, # or @ where none may be: in a user or password write / as %2F, ? as %3F, # as %23 and @ as %40'
    )
  const isSentinel = sentinelSuffix !== undefined
  const colon = access.indexOf(':')
  const given = readParameters(query)
  const isTls = scheme.toLowerCase() === 'rediss'
  if (!isTls && ['ssl_ca_certs', 'ssl_certfile', 'ssl_keyfile'].some(name => given.has(name)))
    throw new RedisUrlProblem('has parameters for TLS (ssl_...), but begins with redis: write rediss')
  if (!isSentinel && (given.has('sentinel_username') || given.has('sentinel_password')))
    throw new RedisUrlProblem('has parameters for Sentinel, but does not begin with redis+sentinel:')
  if (given.has('ssl_certfile') !== given.has('ssl_keyfile'))
    throw new RedisUrlProblem('has one of the parameters ssl_certfile and ssl_keyfile, which belong together')
  const [name, database] = isSentinel ? splitSentinelPath(path) : ['', path]
  return {
    hosts: parseHosts(hostList, isSentinel),
    username: decode(colon < 0 ? access : access.slice(0, colon)),
    password: decode(colon < 0 ? '' : access.slice(colon + 1)),
    database: readDatabase(database, given.get('db')),
    family: readFamily(given.get('family')),
    isTls,
    caFile: given.get('ssl_ca_certs') ?? '',
    certificateFile: given.get('ssl_certfile') ?? '',
    keyFile: given.get('ssl_keyfile') ?? '',
    sentinel: isSentinel
      ? {
          name,
          username: given.get('sentinel_username') ?? '',
          password: given.get('sentinel_password') ?? ''
        }
      : null
  }
}

function parseHosts(text: string, isSentinel: boolean): [Host, ...Host[]] {
  const hosts = text.split(',').map(part => {
    const [, host, digits] = hostForm.exec(part.trim()) ?? []
    const port = digits === undefined ? (isSentinel ? defaultSentinelPort : defaultPort) : Number(digits)
    if (host === undefined || port < 1 || port > 65_535) throw new RedisUrlProblem(notAUrl)
    return { host: host.replaceAll(/^\[|\]$/g, ''), port }
  })
  const [first, ...others] = hosts
  if (first === undefined || (others.length > 0 && !isSentinel)) throw new RedisUrlProblem(notAUrl)
  return [first, ...others]
}

function splitSentinelPath(path: string): [name: string, database: string] {
  const [name = '', database = '', ...rest] = path.split('/')
  if (name === '' || rest.length > 0)
    throw new RedisUrlProblem(
      'does not name the primary as the Sentinels do: write redis+sentinel://HOST:PORT,HOST:PORT/NAME, or /NAME/DATABASE'
    )
  return [decode(name), database]
}

function readParameters(query: string): Map<string, string> {
  const given = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(query)) {
    if (!(parameters as readonly string[]).includes(name))
      throw new RedisUrlProblem(`has the unknown parameter "${name}": known are ${parameters.join(', ')}`)
    if (given.has(name)) throw new RedisUrlProblem(`has the parameter ${name} twice`)
    given.set(name, value)
  }
  return given
}

function readDatabase(path = '', parameter = ''): number {
  const texts = [path, parameter].filter(text => text !== '')
  if (texts.some(text => !/^\d{1,6}$/.test(text)))
    throw new RedisUrlProblem(
      'has a database that is not a number: write it at the end, as in redis://HOST:PORT/0'
    )
  if (new Set(texts.map(Number)).size > 1) throw new RedisUrlProblem('names two databases')
  return Number(texts[0] ?? 0)
}

function readFamily(text = '0'): number {
  if (!['0', '4', '6'].includes(text))
    throw new RedisUrlProblem('has a parameter family that is not 0, 4 or 6')
  return Number(text)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new RedisUrlProblem(
      'has a % in its user, password or name that is not followed by two hexadecimal digits: write % as %25'
    )
  }
}

/** Finds what is wrong with REDIS_URL, as the end of a sentence; null if nothing is. */
export function findRedisUrlProblem(text: string): string | null {
  try {
    const [first, ...others] = splitRedisUrls(text).map(parseRedisUrl)
    if (first === undefined || others.length === 0) return null
    if ([first, ...others].some(({ sentinel }) => sentinel !== null))
      return 'lists several URLs: with Sentinel, list the hosts in one URL'
    return new Set([first, ...others].map(describeAccess)).size > 1
      ? 'names nodes that differ in scheme, user or password'
      : null
  } catch (error) {
    if (error instanceof RedisUrlProblem) return error.message
    throw error
  }
}

/** What all nodes of a cluster must share. */
const describeAccess = ({ isTls, username, password }: RedisUrl) =>
  JSON.stringify([isTls, username, password])

/** Adds a certificate authority to the URLs that name none. Returns null if a URL is not for TLS. */
export function addRedisCaFile(text: string, path: string): string | null {
  const urls = splitRedisUrls(text)
  if (!urls.every(url => parseRedisUrl(url).isTls)) return null
  return urls
    .map(url => {
      if (parseRedisUrl(url).caFile !== '') return url
      return `${url}${url.includes('?') ? '&' : '?'}ssl_ca_certs=${encodeURIComponent(path)}`
    })
    .join(',')
}

/** Returns the options of ioredis for user, password and TLS, of all nodes of a cluster. Throws an `OperatorError`. */
export function redisAccessOptions(url: RedisUrl) {
  return {
    ...(url.username === '' ? {} : { username: url.username }),
    ...(url.password === '' && url.username === '' ? {} : { password: url.password }),
    ...(url.family === 0 ? {} : { family: url.family }),
    ...(url.isTls ? { tls: readTlsFiles(url) } : {})
  }
}

/** Returns the options of ioredis for one Redis, which Sentinels may have to name. Throws an `OperatorError`. */
export function redisConnectionOptions(url: RedisUrl) {
  const access = { ...redisAccessOptions(url), db: url.database }
  const { sentinel } = url
  if (sentinel === null) return { ...url.hosts[0], ...access }
  const { name, username, password } = sentinel
  return {
    ...access,
    sentinels: [...url.hosts],
    name,
    ...(username === '' ? {} : { sentinelUsername: username }),
    ...(password === '' ? {} : { sentinelPassword: password }),
    ...(access.tls === undefined ? {} : { enableTLSForSentinelMode: true, sentinelTLS: access.tls })
  }
}

function readTlsFiles({ caFile, certificateFile, keyFile }: RedisUrl): TlsOptions {
  return {
    ...(caFile === ''
      ? {}
      : { ca: readPem('the certificate authority (ssl_ca_certs or REDIS_CA_FILE)', caFile) }),
    ...(certificateFile === '' ? {} : { cert: readPem('the certificate (ssl_certfile)', certificateFile) }),
    ...(keyFile === '' ? {} : { key: readPem('the key (ssl_keyfile)', keyFile) })
  }
}

function readPem(what: string, path: string): string {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new OperatorError(`REDIS_URL: ${what} cannot be read (${describeError(error)})`, { cause: error })
  }
  if (!text.includes('-----BEGIN ')) throw new OperatorError(`REDIS_URL: ${what}, ${path}, is not a PEM file`)
  return text
}
