import { isAbsolute } from 'node:path'

import * as v from 'valibot'

import { readVariableFiles, secretNames } from '../scripts/variable-files.mjs'
import { dialectNames } from './model/station/dialect.ts'
import { isAddressOrNetwork, parseUrl } from './platform/outbound/networks.ts'
import { parseProxyUrl, readProxyVariable } from './platform/outbound/proxy.ts'
import { OperatorError } from './platform/runtime/operator-error.ts'
import { isCronExpression } from './platform/runtime/repeat.ts'
import { findDatabaseUrlProblem } from './stores/db/connections/database-url.ts'
import { findRedisUrlProblem, addRedisCaFile } from './stores/redis/redis-url.ts'
import { secretsKeyPattern } from './stores/secrets/secrets-key.ts'
import { isSigningSecret } from './webhooks/types/signature.ts'

const matching = (pattern: RegExp, problem: string) => v.pipe(v.string(), v.regex(pattern, problem))

const numberWithin = (min: number, max: number, problem = `is not a number from ${min} to ${max}`) =>
  v.pipe(
    matching(/^\d{1,6}$/, problem),
    v.transform(Number),
    v.minValue(min, problem),
    v.maxValue(max, problem)
  )

const databaseUrl = v.pipe(
  v.string(),
  v.check(
    text => findDatabaseUrlProblem(text) === null,
    issue => findDatabaseUrlProblem(issue.input) ?? ''
  )
)

const proxyUrl = v.pipe(
  v.string(),
  v.check(
    text => parseProxyUrl(text) !== null,
    'is not the URL of a proxy that begins with http:// or https://'
  )
)

/** 0 keeps everything. */
const daysKept = (min: number) =>
  v.pipe(
    numberWithin(0, 36_500),
    v.check(days => days === 0 || days >= min, `is neither 0 nor a number from ${min} to 36500`)
  )

const nonEmpty = v.pipe(v.string(), v.nonEmpty('is empty'))

const urlWith = (protocols: string[]) =>
  v.pipe(
    v.string(),
    v.check(
      text => protocols.includes(parseUrl(text)?.protocol ?? ''),
      `is not a URL that begins with ${protocols.map(name => `${name}//`).join(' or ')}`
    )
  )

/** Parts of a URL are appended to it. */
const baseUrl = v.pipe(
  urlWith(['http:', 'https:']),
  v.check(text => !/[?#]/.test(text), 'has a query or a fragment'),
  v.check(text => {
    const { username = '', password = '' } = parseUrl(text) ?? {}
    return username + password === ''
  }, 'has a user or a password')
)

/** One URL, those of several nodes of a Redis Cluster, or one of Sentinels. */
const redisUrls = v.pipe(
  v.string(),
  v.rawCheck(({ dataset, addIssue }) => {
    const problem = dataset.typed ? findRedisUrlProblem(dataset.value) : null
    if (problem !== null) addIssue({ message: problem })
  })
)

const onOrOff = v.pipe(
  v.string(),
  v.picklist(['on', 'off', 'true', 'false', '1', '0'], 'is neither on nor off'),
  v.transform(text => ['on', 'true', '1'].includes(text))
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

/** `https://radio.example.com`, as browsers send it, `capacitor://localhost` of an app, `null`, or `*`. */
const origins = v.pipe(
  list,
  v.transform(texts => texts.map(toOrigin)),
  v.check(
    texts => texts.every(text => /^(\*|null|[a-z][a-z\d+.-]*:\/\/[^\s/?#@*]+)$/.test(text)),
    'contains something that is neither * nor an origin such as https://radio.example.com'
  )
)

/**
 * Without the default port and a slash at the end, which browsers do not send. Other texts are returned as they are.
 */
function toOrigin(text: string): string {
  const url = parseUrl(text)
  const isWeb = url !== null && ['http:', 'https:'].includes(url.protocol)
  return isWeb && /^[^/]+:\/\/[^/?#@*]+\/?$/.test(text) ? url.origin : text
}

const mailAddress = v.pipe(v.string(), v.email('is not a mail address'))

const networks = v.pipe(
  list,
  v.check(texts => texts.every(isAddressOrNetwork), 'contains something that is not an address or network')
)

const schema = v.object({
  PORT: v.optional(numberWithin(1, 65_535), '8080'),
  HOST: v.optional(nonEmpty, '127.0.0.1'),
  BASE_URL: v.optional(baseUrl),
  DATABASE_URL: v.optional(databaseUrl),
  REDIS_URL: v.optional(redisUrls),
  REDIS_CA_FILE: v.optional(v.pipe(v.string(), v.check(isAbsolute, 'is not an absolute path'))),
  DATA_DIR: v.optional(nonEmpty, '.data'),
  ADMIN_API_KEY: v.optional(matching(/^[0-9a-f]{16}:[0-9a-f]{32}$/, 'is not of the form <16 hex>:<32 hex>')),
  SECRETS_KEY: v.optional(matching(secretsKeyPattern, 'is not 64 hexadecimal digits')),
  SERVER_PROCESSES: v.optional(numberWithin(1, 64), '1'),
  MEDIA_DIR: v.optional(nonEmpty),
  DEMO: v.optional(onOrOff, 'on'),
  API_DIALECT: v.optional(v.picklist(dialectNames, 'is neither documented nor azuracast'), 'documented'),
  CORS_ALLOWED_ORIGINS: v.optional(origins, '*'),
  LIVE_MAX_CONNECTIONS: v.optional(numberWithin(1, 999_999), '50000'),
  LIVE_MAX_CONNECTIONS_PER_ADDRESS: v.optional(numberWithin(1, 999_999), '1000'),
  LIVE_MAX_CONNECTIONS_PER_STATION: v.optional(numberWithin(0, 999_999), '0'),
  DRAIN_SECONDS: v.optional(numberWithin(0, 300), '0'),
  TRUSTED_PROXIES: v.optional(networks, ''),
  WEBHOOK_ALLOWED_NETWORKS: v.optional(networks, ''),
  HTTP_PROXY: v.optional(proxyUrl),
  HTTPS_PROXY: v.optional(proxyUrl),
  NO_PROXY: v.optional(v.string()),
  COVER_LOOKUP: v.optional(v.picklist(['off', 'musicbrainz'], 'is neither off nor musicbrainz'), 'off'),
  SMTP_URL: v.optional(urlWith(['smtp:', 'smtps:'])),
  MAIL_FROM: v.optional(mailAddress, 'cuewire@localhost.localdomain'),
  ALERT_MAIL: v.optional(
    v.pipe(
      list,
      v.check(
        texts => (texts.length === 1 && texts[0] === 'off') || texts.every(text => v.is(mailAddress, text)),
        'is neither off nor a list of mail addresses'
      )
    )
  ),
  ALERT_URL: v.optional(urlWith(['http:', 'https:'])),
  ALERT_SECRET: v.optional(
    v.pipe(v.string(), v.check(isSigningSecret, 'is not whsec_ and the base64 of 24 to 64 bytes'))
  ),
  STORAGE_ROOTS: v.optional(
    v.pipe(
      list,
      v.check(paths => paths.every(isAbsolute), 'contains a path that is not absolute')
    ),
    '/srv,/mnt,/media,/var/lib/cuewire,/var/azuracast'
  ),
  UPLOAD_MAX_MB: v.optional(numberWithin(1, 5_120), '2048'),
  /** Ignored since 0.3.0: uploads slow down while the event loop is late. */
  UPLOAD_MAX_MBIT: v.optional(v.string()),
  HLS_ACCESS_LOG: v.optional(v.pipe(v.string(), v.check(isAbsolute, 'is not an absolute path'))),
  HLS_SEGMENT_SECONDS: v.optional(numberWithin(1, 60), '4'),
  GEO_DATABASE: v.optional(v.pipe(v.string(), v.check(isAbsolute, 'is not an absolute path'))),
  HISTORY_RETENTION_DAYS: v.optional(daysKept(30), '0'),
  REQUEST_RETENTION_DAYS: v.optional(daysKept(1), '30'),
  DELIVERY_RETENTION_DAYS: v.optional(daysKept(1), '30'),
  AUDIT_RETENTION_DAYS: v.optional(daysKept(1), '365'),
  LISTENER_RETENTION_DAYS: v.optional(daysKept(1), '400'),
  AUDIENCE_RETENTION_DAYS: v.optional(daysKept(1), '730'),
  METRICS_PORT: v.optional(numberWithin(1, 65_535)),
  METRICS_HOST: v.optional(nonEmpty, '127.0.0.1'),
  OTEL_EXPORTER_OTLP_ENDPOINT: v.optional(urlWith(['http:', 'https:'])),
  SLOW_LOG_MS: v.optional(numberWithin(0, 600_000), '1000'),
  BACKUP_SCHEDULE: v.optional(
    v.pipe(
      v.string(),
      v.check(
        text => isCronExpression(text) && text.trim().split(/\s+/).length === 5,
        'is not a cron expression of five fields'
      )
    )
  ),
  BACKUP_STORAGE: v.optional(
    v.pipe(
      v.string(),
      v.check(
        text => isAbsolute(text) || /^[1-9]\d{0,15}$/.test(text),
        'is neither the absolute path of a folder nor the id of a storage location'
      )
    )
  ),
  BACKUP_KEEP: v.optional(numberWithin(1, 1_000), '7'),
  ACCESS_LOG: v.optional(onOrOff, 'off'),
  LOG_LEVEL: v.optional(
    v.picklist(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'is none of trace, debug, info, warn, error, fatal, silent'
    ),
    'info'
  )
})

/** The validated environment. `BASE_URL` has no trailing slash. */
export type Config = Readonly<Omit<v.InferOutput<typeof schema>, 'BASE_URL'> & { BASE_URL: string }>

/** The variables that other processes of the installation may know, so that they check what this process uses. */
export function pickRegisteredSettings(config: Config) {
  const { BASE_URL, HOST, PORT, METRICS_HOST, METRICS_PORT, TRUSTED_PROXIES } = config
  const metrics = METRICS_PORT === undefined ? {} : { METRICS_HOST, METRICS_PORT }
  return { BASE_URL, HOST, PORT, TRUSTED_PROXIES, ...metrics }
}

/** Names of all variables. */
export const configVariableNames = Object.keys(schema.entries)

/**
 * Parses the configuration of an environment. An empty variable counts as unset; a secret may be in the file that
 * `NAME_FILE` names. Throws an `OperatorError` that names every invalid variable, without values, since some are
 * secret.
 */
export function parseConfig(env: Record<string, string | undefined>): Config {
  const files = readVariableFiles(env)
  const given = Object.fromEntries(
    configVariableNames.map(name => [
      name,
      (name.endsWith('_PROXY') ? readProxyVariable(env, name) : env[name]) || files.values[name] || undefined
    ])
  )
  const result = v.safeParse(schema, given)
  const problems = [...files.problems, ...findFilesOfOthers(env)]
  if (!result.success) problems.push(...result.issues.map(issue => `${v.getDotPath(issue)} ${issue.message}`))
  if (!result.success || problems.length > 0)
    throw new OperatorError(`invalid configuration: ${problems.join('; ')}`)
  if (result.output.COVER_LOOKUP !== 'off' && result.output.BASE_URL === undefined)
    throw new OperatorError(
      'invalid configuration: COVER_LOOKUP needs BASE_URL, the contact that MusicBrainz requires in each request'
    )
  if ((result.output.BACKUP_SCHEDULE === undefined) !== (result.output.BACKUP_STORAGE === undefined))
    throw new OperatorError('invalid configuration: BACKUP_SCHEDULE and BACKUP_STORAGE belong together')
  if ((result.output.ALERT_URL === undefined) !== (result.output.ALERT_SECRET === undefined))
    throw new OperatorError('invalid configuration: ALERT_URL and ALERT_SECRET belong together')
  const { ALERT_MAIL: mail = [], SMTP_URL: smtp } = result.output
  if (mail.some(text => text !== 'off') && smtp === undefined)
    throw new OperatorError('invalid configuration: ALERT_MAIL needs SMTP_URL')
  const redisUrl = addCaFile(result.output)
  const base = result.output.BASE_URL ?? `http://localhost:${result.output.PORT}`
  return Object.freeze({ ...result.output, REDIS_URL: redisUrl, BASE_URL: base.replace(/\/+$/, '') })
}

/** Returns REDIS_URL with the certificate authority of REDIS_CA_FILE. */
function addCaFile({ REDIS_URL: url, REDIS_CA_FILE: caFile }: v.InferOutput<typeof schema>) {
  if (url === undefined || caFile === undefined) return url
  const withFile = addRedisCaFile(url, caFile)
  if (withFile === null)
    throw new OperatorError('invalid configuration: REDIS_CA_FILE needs a REDIS_URL that begins with rediss:')
  return withFile
}

/** Only secrets are read from files: some other variables are also read by scripts, and in other ways. */
const findFilesOfOthers = (env: Record<string, string | undefined>): string[] =>
  configVariableNames
    .filter(name => env[`${name}_FILE`] && !secretNames.includes(name))
    .map(name => `${name}_FILE is not supported: set ${name}`)
