import { isAbsolute } from 'node:path'

/** How a database is reached, as its URL says. What the URL leaves out is undefined. */
export interface DatabaseTarget {
  /** Servers in the order in which they are tried; one of them is the primary. Empty if the URL names none. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[]
  /** The path of a Unix socket, instead of `hosts`. */
  readonly socketPath?: string | undefined
  readonly user?: string | undefined
  readonly password?: string | undefined
  readonly database?: string | undefined
  readonly tls: TlsTarget
  readonly channelBinding?: 'prefer' | 'require' | undefined
  readonly applicationName?: string | undefined
  readonly searchPath?: string | undefined
  /** Command-line options of the server process, as `-c name=value`. */
  readonly options?: string | undefined
  readonly connectTimeoutSeconds?: number | undefined
  /** Whether a primary that is read-only by default is refused as well. */
  readonly mustBeWritable: boolean
}

const tlsModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const

export interface TlsTarget {
  readonly mode: (typeof tlsModes)[number]
  readonly isDirect: boolean
  /** Files in PEM. Without `ca`, the authorities of Node.js and of NODE_EXTRA_CA_CERTS count. */
  readonly ca?: string | undefined
  readonly cert?: string | undefined
  readonly key?: string | undefined
  readonly keyPassword?: string | undefined
}

/** Why a URL of a database is not usable. The message follows the name of the variable, and quotes no password. */
export class DatabaseUrlError extends Error {}

const defaultPort = 5432
const maxConnectSeconds = 60

const words = (...allowed: readonly string[]) => ({
  allowed,
  problem: `must be ${allowed.slice(0, -1).join(', ')}${allowed.length > 1 ? ' or ' : ''}${allowed.at(-1)}`
})

/** The parameters that work. Some have a list of allowed values. */
const parameters = new Map<string, ReturnType<typeof words> | null>(
  Object.entries({
    host: null,
    port: null,
    user: null,
    password: null,
    dbname: null,
    sslmode: words('disable', 'prefer', 'require', 'no-verify', 'verify-ca', 'verify-full'),
    // The form of JDBC, which libpq takes for sslmode=require.
    ssl: words('true', 'false'),
    sslrootcert: null,
    sslcert: null,
    sslkey: null,
    sslpassword: null,
    sslnegotiation: words('postgres', 'direct'),
    channel_binding: words('disable', 'prefer', 'require'),
    application_name: null,
    search_path: null,
    // The name of Prisma for search_path.
    schema: null,
    options: null,
    connect_timeout: null,
    target_session_attrs: words('any', 'primary', 'read-write'),
    client_encoding: words('UTF8', 'utf8', 'UTF-8', 'auto'),
    gssencmode: words('disable', 'prefer'),
    pgbouncer: words('false')
  })
)

const remedies = new Map([
  ['target_session_attrs', ', because Cuewire writes'],
  ['client_encoding', ', because Cuewire stores Unicode'],
  [
    'pgbouncer',
    ': a pooler in transaction mode mixes the sessions of its clients. Name its session mode, or Postgres itself, and remove the parameter'
  ]
])

/** Parameters of other clients, and what to do instead. */
const refused = new Map([
  ['connection_limit', 'the connections of each process are fixed (docs/configuration.md)'],
  ['pool_timeout', 'the connections of each process are fixed (docs/configuration.md)'],
  ['statement_timeout', 'Cuewire sets it itself'],
  ['lock_timeout', 'Cuewire sets it itself'],
  ['sslaccept', 'use sslmode and sslrootcert'],
  ['sslidentity', 'use sslcert and sslkey']
])

/**
 * Parses a URL as libpq, Prisma and hosting providers write it. Throws a `DatabaseUrlError` that names the part or
 * parameter that is wrong or not supported: none is ignored.
 */
export function parseDatabaseUrl(text: string): DatabaseTarget {
  const { authority, path, query } = splitUrl(text)
  const given = parseParameters(query)
  const at = authority.lastIndexOf('@')
  const [user, password] = splitOnce(authority.slice(0, Math.max(0, at)), ':')
  const database = decode(path)
  const written = parseHosts(authority.slice(at + 1))
  const hosts = written.length > 0 ? written : hostsOfParameters(given)
  const twice = [
    written.length > 0 && given.has('host') && 'host',
    written.length > 0 && given.has('port') && 'port',
    user !== '' && given.has('user') && 'user',
    password !== undefined && given.has('password') && 'password',
    database !== '' && given.has('dbname') && 'dbname'
  ].find(Boolean)
  for (const [one, other] of [
    ['schema', 'search_path'],
    ['ssl', 'sslmode']
  ] as const)
    if (given.has(one) && given.has(other))
      throw new DatabaseUrlError(`has the parameters ${one} and ${other}, which mean the same: remove one`)
  if (twice) throw new DatabaseUrlError(`has the parameter ${twice} beside the one before the "?"`)
  const socket = hosts.find(({ host }) => host.startsWith('/'))
  if (socket && hosts.length > 1)
    throw new DatabaseUrlError('names several hosts, of which one is the folder of a socket')
  return {
    hosts: socket ? [] : hosts,
    socketPath: socket && `${socket.host.replace(/\/$/, '')}/.s.PGSQL.${socket.port}`,
    user: decode(user) || given.get('user'),
    password: (password === undefined ? undefined : decode(password)) || given.get('password'),
    database: database || given.get('dbname'),
    tls: tlsOf(given, socket !== undefined || hosts.every(({ host }) => isLoopback(host))),
    channelBinding: channelBindingOf(given),
    applicationName: given.get('application_name'),
    searchPath: given.get('search_path') ?? quoteSchema(given.get('schema')),
    options: optionsOf(given),
    connectTimeoutSeconds: connectTimeoutOf(given),
    mustBeWritable: given.get('target_session_attrs') === 'read-write'
  }
}

/** Returns what is wrong with a URL, as `DatabaseUrlError` says it; null if it is usable. */
export function findDatabaseUrlProblem(text: string): string | null {
  try {
    parseDatabaseUrl(text)
    return null
  } catch (error) {
    if (!(error instanceof DatabaseUrlError)) throw error
    return error.message
  }
}

function splitUrl(text: string) {
  const [, rest] = /^postgres(?:ql)?:\/\/(.*)$/s.exec(text) ?? []
  if (rest === undefined)
    throw new DatabaseUrlError('is not a URL that begins with postgres:// or postgresql://')
  if (rest.includes('#')) throw new DatabaseUrlError('has a "#": in a password, write it as %23')
  const [main, query = ''] = splitOnce(rest, '?')
  const [authority, path = ''] = splitOnce(main, '/')
  const isTruncated = path.includes('@') || (query.includes('@') && !splitOnce(query, '@')[0].includes('='))
  if (isTruncated)
    throw new DatabaseUrlError(
      'has an "@" after a "/" or "?": in a password, write these as %40, %2F and %3F'
    )
  if (path.includes('/')) throw new DatabaseUrlError('names a database with a "/": write it as %2F')
  return { authority, path, query }
}

function splitOnce(text: string, separator: string): [string, string?] {
  const index = text.indexOf(separator)
  return index === -1 ? [text] : [text.slice(0, index), text.slice(index + separator.length)]
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new DatabaseUrlError('has a "%" without two hexadecimal digits: in a password, write it as %25')
  }
}

function parseParameters(query: string): Map<string, string> {
  const given = new Map<string, string>()
  for (const pair of query.split('&').filter(Boolean)) {
    const [rawName, rawValue = ''] = splitOnce(pair, '=')
    const [name, value] = [decode(rawName), decode(rawValue)]
    const kind = parameters.get(name)
    if (kind === undefined) throw new DatabaseUrlError(unknownParameter(name))
    if (given.has(name)) throw new DatabaseUrlError(`has the parameter ${name} twice`)
    if (kind !== null && !kind.allowed.includes(value))
      throw new DatabaseUrlError(
        `has the parameter ${name}=${value}: it ${kind.problem}${remedies.get(name) ?? ''}`
      )
    given.set(name, value)
  }
  return given
}

function unknownParameter(name: string): string {
  const reason = refused.get(name)
  return reason === undefined
    ? `has the parameter ${name}, which is not known: remove it, or set a setting of Postgres with options=-c%20name%3Dvalue`
    : `has the parameter ${name}, which is not supported: ${reason}; remove it`
}

function parseHosts(text: string): DatabaseTarget['hosts'] {
  if (text === '') return []
  return text.split(',').map(part => {
    const [, bracketed, name, port] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(.*))?$/.exec(part) ?? []
    if ((bracketed === undefined && name === undefined) || /^:.*:/.test(part))
      throw new DatabaseUrlError('has a host that is not valid: write IPv6 addresses in brackets, as [::1]')
    return { host: checkHost(decode(bracketed ?? name ?? '')), port: parsePort(port) }
  })
}

function checkHost(host: string): string {
  if (host === '' || /[\s@?#]/.test(host) || (host.includes('/') && !isAbsolute(host)))
    throw new DatabaseUrlError(
      'has a host that is not valid: in a password, write "@", "/" and ":" as %40, %2F and %3A'
    )
  return host
}

function parsePort(text: string | undefined): number {
  if (text === undefined || text === '') return defaultPort
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port < 1 || port > 65_535)
    throw new DatabaseUrlError(
      'has a port that is not a number from 1 to 65535: in a password, write "/", "?" and "#" as %2F, %3F and %23'
    )
  return port
}

/** The hosts of the parameters host and port, which may be lists. */
function hostsOfParameters(given: ReadonlyMap<string, string>): DatabaseTarget['hosts'] {
  const ports = (given.get('port') ?? '').split(',').map(port => parsePort(port))
  const hosts = given.get('host')?.split(',') ?? []
  if (ports.length > 1 && ports.length !== hosts.length)
    throw new DatabaseUrlError('has the parameter port with another number of entries than host')
  if (hosts.length === 0)
    return given.has('port') ? [{ host: 'localhost', port: ports[0] ?? defaultPort }] : []
  return hosts.map((host, index) => ({
    host: checkHost(host.replace(/^\[(.*)\]$/, '$1')),
    port: ports[index] ?? ports[0] ?? defaultPort
  }))
}

const isLoopback = (host: string) => /^(localhost|127\.[\d.]+|::1)$/.test(host)

function tlsOf(given: ReadonlyMap<string, string>, isLocal: boolean): TlsTarget {
  const [ca, cert, key] = ['sslrootcert', 'sslcert', 'sslkey'].map(name => given.get(name))
  const ssl = given.get('ssl')
  const asked =
    given.get('sslmode') ?? (ssl === undefined ? undefined : ssl === 'true' ? 'require' : 'disable')
  // As in libpq, an authority is not given in vain.
  const byFiles = ca === 'system' ? 'verify-full' : ca !== undefined ? 'verify-ca' : undefined
  const mode =
    asked === 'no-verify'
      ? 'require'
      : asked === 'require' || asked === undefined
        ? (byFiles ?? asked ?? (isLocal ? 'disable' : 'prefer'))
        : asked
  if ((cert === undefined) !== (key === undefined))
    throw new DatabaseUrlError(
      'has one of the parameters sslcert and sslkey without the other: for an authority, use sslrootcert'
    )
  const isUnverified = mode === 'disable' || mode === 'prefer' || asked === 'no-verify'
  if (isUnverified && (ca !== undefined || cert !== undefined))
    throw new DatabaseUrlError(
      `has the parameter ${ca === undefined ? 'sslcert' : 'sslrootcert'}, which needs sslmode=verify-full, verify-ca or require`
    )
  const isDirect = given.get('sslnegotiation') === 'direct'
  if (isDirect && (mode === 'disable' || mode === 'prefer'))
    throw new DatabaseUrlError(
      'has the parameter sslnegotiation=direct, which needs sslmode=require or stronger'
    )
  return {
    mode: tlsModes.find(each => each === mode) ?? 'verify-full',
    isDirect,
    ca: ca === 'system' ? undefined : ca,
    cert,
    key,
    keyPassword: given.get('sslpassword')
  }
}

function channelBindingOf(given: ReadonlyMap<string, string>): 'prefer' | 'require' | undefined {
  const value = given.get('channel_binding')
  return value === 'prefer' || value === 'require' ? value : undefined
}

/** Settings that Cuewire makes on each connection, so that they would be ignored in `options`. */
const ownSettings =
  /\b(client_encoding|statement_timeout|lock_timeout|idle_in_transaction_session_timeout|plan_cache_mode|max_parallel_workers_per_gather)\b/i

function optionsOf(given: ReadonlyMap<string, string>): string | undefined {
  const options = given.get('options')
  const [own] = ownSettings.exec(options ?? '') ?? []
  if (own !== undefined)
    throw new DatabaseUrlError(`has the parameter options with ${own}, which Cuewire sets itself: remove it`)
  return options
}

function connectTimeoutOf(given: ReadonlyMap<string, string>): number | undefined {
  const text = given.get('connect_timeout')
  if (text === undefined) return undefined
  const seconds = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (seconds < 1 || seconds > maxConnectSeconds)
    throw new DatabaseUrlError(
      `has the parameter connect_timeout=${text}: it must be a number of seconds from 1 to ${maxConnectSeconds}`
    )
  return seconds
}

const quoteSchema = (name: string | undefined) =>
  name === undefined ? undefined : `"${name.replaceAll('"', '""')}"`
