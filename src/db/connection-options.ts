import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'

import type { Options } from 'postgres'

import { codeOf, OperatorError } from '../runtime/errors.ts'
import { type DatabaseTarget, DatabaseUrlError, parseDatabaseUrl, type TlsTarget } from './database-url.ts'

const defaultConnectSeconds = 5

/**
 * The options of the package for a URL. The settings are made by a statement and not by startup parameters, which poolers in
 * session mode refuse or drop. Throws an `OperatorError` if the URL is wrong, or a file that it names is not readable.
 */
export function connectionOptions(
  url: string,
  name: string,
  settings: Readonly<Record<string, string | number>>
): Options<{}> {
  const target = parse(url)
  const { hosts, socketPath, user, password, database, tls, channelBinding, options, searchPath } = target
  const all = searchPath === undefined ? settings : { ...settings, search_path: searchPath }
  const calls = Object.entries(all).map(
    ([key, value]) => `set_config('${key}', ${quote(String(value))}, false)`
  )
  return {
    ...(hosts.length === 0
      ? {}
      : { host: hosts.map(({ host }) => host), port: hosts.map(({ port }) => port) }),
    ...(socketPath === undefined ? {} : { path: socketPath }),
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password }),
    ...(database === undefined ? {} : { database }),
    ssl: tlsOptions(tls),
    ...(tls.isDirect ? { sslnegotiation: 'direct' } : {}),
    ...(channelBinding === undefined ? {} : { channel_binding: channelBinding }),
    target_session_attrs: target.mustBeWritable ? 'read-write' : 'primary',
    connect_timeout: target.connectTimeoutSeconds ?? defaultConnectSeconds,
    session: `select ${calls.join(', ')};`,
    connection: {
      application_name: `cuewire ${name}${target.applicationName === undefined ? '' : ` (${target.applicationName})`}`,
      ...(options === undefined ? {} : { options })
    }
  }
}

function parse(url: string): DatabaseTarget {
  try {
    return parseDatabaseUrl(url)
  } catch (error) {
    if (!(error instanceof DatabaseUrlError)) throw error
    throw new OperatorError(`the URL of the database ${error.message}`, { cause: error })
  }
}

function tlsOptions({ mode, ca, cert, key, keyPassword }: TlsTarget): false | 'prefer' | ConnectionOptions {
  if (mode === 'disable') return false
  if (mode === 'prefer') return mode
  return {
    ...(ca === undefined ? {} : { ca: readPem('sslrootcert', ca) }),
    ...(cert === undefined ? {} : { cert: readPem('sslcert', cert) }),
    ...(key === undefined ? {} : { key: readPem('sslkey', key) }),
    ...(keyPassword === undefined ? {} : { passphrase: keyPassword }),
    ...(mode === 'require' ? { rejectUnauthorized: false } : {}),
    ...(mode === 'verify-ca' ? { checkServerIdentity: () => undefined } : {})
  }
}

function readPem(parameter: string, file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new OperatorError(
      `the URL of the database has the parameter ${parameter}, whose file ${file} cannot be read (${codeOf(error)})`,
      { cause: error }
    )
  }
}

const quote = (text: string) => `'${text.replaceAll("'", "''")}'`
