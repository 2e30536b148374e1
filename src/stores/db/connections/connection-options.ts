import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'

import type { Options } from 'postgres'

import { errorCodeOf } from '../../../platform/runtime/errors.ts'
import { OperatorError } from '../../../platform/runtime/operator-error.ts'
import { readOnlySessionCode } from '../../../platform/runtime/store-errors.ts'
import { type DatabaseTarget, DatabaseUrlError, parseDatabaseUrl, type TlsTarget } from './database-url.ts'
import { formatServerAddress, type ServerAddress } from './server-socket.ts'
import { openSocketFactory } from './sockets.ts'

const defaultConnectSeconds = 5
/** Pause before a lost connection is opened again, in seconds. The default of the package grows to 20. */
const pauseSeconds = () => 0.1 + Math.random() * 0.3

/**
 * The options of the package for a URL. The settings are made by a statement and not by startup parameters, which
 * poolers in session mode refuse or drop. Throws an `OperatorError` if the URL is wrong, or a file that it names is not
 * readable.
 */
export function postgresConnectionOptions(
  url: string,
  name: string,
  settings: Readonly<Record<string, string | number>>
): Options<{}> {
  const target = parse(url)
  const { user, password, database, channelBinding, options, searchPath } = target
  const all = searchPath === undefined ? settings : { ...settings, search_path: searchPath }
  const calls = Object.entries(all).map(
    ([key, value]) => `set_config('${key}', ${quote(String(value))}, false)`
  )
  const servers = serversOf(target)
  const connectSeconds = target.connectTimeoutSeconds ?? defaultConnectSeconds
  const common = {
    // Sockets are opened here; this names them in messages of errors.
    path: servers.map(formatServerAddress).join(','),
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password }),
    ...(database === undefined ? {} : { database }),
    ...(channelBinding === undefined ? {} : { channel_binding: channelBinding }),
    connect_timeout: connectSeconds,
    backoff: pauseSeconds,
    session: `${guard(target)} select ${calls.join(', ')};`,
    connection: {
      application_name: `cuewire ${name}${target.applicationName === undefined ? '' : ` (${target.applicationName})`}`,
      ...(options === undefined ? {} : { options })
    }
  }
  const tls = { ...target.tls, options: tlsOptions(target.tls) }
  return { ...common, socket: openSocketFactory(servers, tls, common) }
}

const defaultPort = 5432

function serversOf({ socketPath, hosts }: DatabaseTarget): [ServerAddress, ...ServerAddress[]] {
  if (socketPath !== undefined) return [{ path: socketPath }]
  const { PGHOST: host = 'localhost', PGPORT: port = defaultPort } = process.env
  const [first = { host, port: Number(port) }, ...others] = hosts
  return [first, ...others]
}

/**
 * A statement that refuses the session of a standby, or of any server that is read-only. The SQLSTATE is one of the
 * class of servers that start or stop.
 */
function guard({ mustBeWritable }: DatabaseTarget): string {
  const isReadOnly = mustBeWritable ? "current_setting('transaction_read_only')::bool" : 'pg_is_in_recovery()'
  return `do $$ begin if ${isReadOnly} then raise 'the session is read-only' using errcode = '${readOnlySessionCode}'; end if; end $$;`
}

function parse(url: string): DatabaseTarget {
  try {
    return parseDatabaseUrl(url)
  } catch (error) {
    if (!(error instanceof DatabaseUrlError)) throw error
    throw new OperatorError(`the URL of the database ${error.message}`, { cause: error })
  }
}

function tlsOptions({ mode, ca, cert, key, keyPassword }: TlsTarget): ConnectionOptions {
  return {
    ...(ca === undefined ? {} : { ca: readPem('sslrootcert', ca) }),
    ...(cert === undefined ? {} : { cert: readPem('sslcert', cert) }),
    ...(key === undefined ? {} : { key: readPem('sslkey', key) }),
    ...(keyPassword === undefined ? {} : { passphrase: keyPassword }),
    ...(mode === 'prefer' || mode === 'require' ? { rejectUnauthorized: false } : {}),
    ...(mode === 'verify-ca' ? { checkServerIdentity: () => undefined } : {})
  }
}

function readPem(parameter: string, file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new OperatorError(
      `the URL of the database has the parameter ${parameter}, whose file ${file} cannot be read (${errorCodeOf(error)})`,
      { cause: error }
    )
  }
}

const quote = (text: string) => `'${text.replaceAll("'", "''")}'`
