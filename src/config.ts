import { isAbsolute } from 'node:path'

import * as v from 'valibot'

import { isNetwork, parsedUrl } from './outbound/networks.ts'
import { urlsOf } from './redis/place.ts'
import { OperatorError } from './runtime/errors.ts'

const port = v.pipe(
  v.string(),
  v.regex(/^\d{1,5}$/, 'is not a port number'),
  v.transform(Number),
  v.minValue(1, 'is not a port number'),
  v.maxValue(65_535, 'is not a port number')
)
const count = (least: number, most: number) =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,6}$/, `is not a number from ${least} to ${most}`),
    v.transform(Number),
    v.minValue(least, `is below ${least}`),
    v.maxValue(most, `is above ${most}`)
  )
/** 0 keeps everything. */
const daysKept = (least: number) =>
  v.pipe(
    count(0, 36_500),
    v.check(days => days === 0 || days >= least, `is neither 0 nor a number from ${least} to 36500`)
  )
const urlOf = (protocols: string[]) =>
  v.pipe(
    v.string(),
    v.check(
      text => protocols.includes(parsedUrl(text)?.protocol ?? ''),
      `is not a URL that begins with ${protocols.map(name => `${name}//`).join(' or ')}`
    )
  )
function isRedisUrl(text: string): boolean {
  const url = parsedUrl(text)
  return url !== null && ['redis:', 'rediss:'].includes(url.protocol) && !url.hostname.includes(',')
}

const accessOf = (url: string) => {
  const { protocol, username, password } = new URL(url)
  return JSON.stringify([protocol, username, password])
}

/** One URL, or those of several nodes of a Redis Cluster. */
const redisUrls = v.pipe(
  v.string(),
  v.check(
    text => urlsOf(text).every(isRedisUrl),
    'is not a URL that begins with redis:// or rediss://, nor several whole ones separated by commas'
  ),
  v.check(
    text => new Set(urlsOf(text).filter(isRedisUrl).map(accessOf)).size < 2,
    'names nodes that differ in scheme, user or password'
  )
)

const list = v.pipe(
  v.string(),
  v.transform(text =>
    text
      .split(',')
      .map(part => part.trim())
      .filter(part => part !== '')
  )
)

const networks = v.pipe(
  list,
  v.check(texts => texts.every(isNetwork), 'holds something that is no address or network')
)

const schema = v.object({
  PORT: v.optional(port, '8080'),
  HOST: v.optional(v.pipe(v.string(), v.nonEmpty('is empty')), '127.0.0.1'),
  BASE_URL: v.optional(urlOf(['http:', 'https:'])),
  DATABASE_URL: v.optional(urlOf(['postgres:', 'postgresql:'])),
  REDIS_URL: v.optional(redisUrls),
  DATA_DIR: v.optional(v.pipe(v.string(), v.nonEmpty('is empty')), '.data'),
  ADMIN_API_KEY: v.optional(
    v.pipe(v.string(), v.regex(/^[0-9a-f]{16}:[0-9a-f]{32}$/, 'is not of the form <16 hex>:<32 hex>'))
  ),
  SECRETS_KEY: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/i, 'is not 64 hexadecimal digits'))),
  SERVER_PROCESSES: v.optional(count(1, 64), '1'),
  MEDIA_DIR: v.optional(v.pipe(v.string(), v.nonEmpty('is empty'))),
  DEMO: v.optional(
    v.pipe(
      v.string(),
      v.picklist(['on', 'off', 'true', 'false', '1', '0'], 'is neither on nor off'),
      v.transform(text => ['on', 'true', '1'].includes(text))
    ),
    'on'
  ),
  CORS_ALLOWED_ORIGINS: v.optional(list, '*'),
  LIVE_MAX_CONNECTIONS: v.optional(count(1, 999_999), '50000'),
  LIVE_MAX_CONNECTIONS_PER_ADDRESS: v.optional(count(1, 999_999), '1000'),
  DRAIN_SECONDS: v.optional(count(0, 300), '0'),
  TRUSTED_PROXIES: v.optional(networks, ''),
  WEBHOOK_ALLOWED_NETWORKS: v.optional(networks, ''),
  SMTP_URL: v.optional(urlOf(['smtp:', 'smtps:'])),
  MAIL_FROM: v.optional(
    v.pipe(v.string(), v.email('is not a mail address')),
    'cuewire@localhost.localdomain'
  ),
  STORAGE_ROOTS: v.optional(
    v.pipe(
      list,
      v.check(paths => paths.every(isAbsolute), 'holds a path that is not absolute')
    ),
    '/srv,/mnt,/media,/var/lib/cuewire,/var/azuracast'
  ),
  HLS_ACCESS_LOG: v.optional(v.pipe(v.string(), v.check(isAbsolute, 'is not an absolute path'))),
  HLS_SEGMENT_SECONDS: v.optional(count(1, 60), '4'),
  HISTORY_RETENTION_DAYS: v.optional(daysKept(30), '0'),
  REQUEST_RETENTION_DAYS: v.optional(daysKept(1), '30'),
  DELIVERY_RETENTION_DAYS: v.optional(daysKept(1), '30'),
  AUDIT_RETENTION_DAYS: v.optional(daysKept(1), '365'),
  LISTENER_RETENTION_DAYS: v.optional(daysKept(1), '400'),
  LOG_LEVEL: v.optional(
    v.picklist(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'is none of trace, debug, info, warn, error, fatal, silent'
    ),
    'info'
  )
})

/**
 * The environment, checked; `BASE_URL` has no trailing slash. The table in docs/configuration.md lists the
 * same names.
 */
export type Config = Readonly<Omit<v.InferOutput<typeof schema>, 'BASE_URL'> & { BASE_URL: string }>

/** Names of all variables, in the order of the table in docs/configuration.md. */
export const variableNames = Object.keys(schema.entries)

/**
 * Reads the configuration out of an environment. An empty variable counts as unset. Throws one
 * `OperatorError` that names every bad variable; values are not repeated, since some are secret.
 */
export function parseConfig(env: Record<string, string | undefined>): Config {
  const given = Object.fromEntries(variableNames.map(name => [name, env[name] || undefined]))
  const result = v.safeParse(schema, given)
  if (!result.success) {
    const problems = result.issues.map(issue => `${v.getDotPath(issue)} ${issue.message}`)
    throw new OperatorError(`bad configuration: ${problems.join('; ')}`)
  }
  const base = result.output.BASE_URL ?? `http://localhost:${result.output.PORT}`
  return Object.freeze({ ...result.output, BASE_URL: base.replace(/\/+$/, '') })
}
