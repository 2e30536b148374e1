import { connect } from 'node:net'

import { errorCodeOf } from '../../../platform/runtime/errors.ts'
import { AdvisedError, type OperatorError } from '../../../platform/runtime/operator-error.ts'
import { describeError, toOperatorError } from '../../../platform/runtime/store-errors.ts'
import { findTlsFault } from '../../../platform/runtime/tls-faults.ts'
import { openSql, type Sql } from '../sql.ts'
import { countConnections } from './connection-budget.ts'
import { assertSessionsKept } from './session-pooling.ts'

/** Where the URL of a Postgres comes from. */
export interface PostgresUrlSource {
  /** Whether no variable names it, so that Cuewire usually runs it itself. */
  readonly isEmbedded?: boolean
  /** The variable that names it. */
  readonly variable?: string
}

/** The place of the database that a configuration leads to. */
export const postgresUrlSource = ({
  DATABASE_URL: url
}: {
  readonly DATABASE_URL?: string | undefined
}): PostgresUrlSource => (url === undefined ? { isEmbedded: true } : { variable: 'DATABASE_URL' })

/** Explains why a statement that always succeeds has failed. */
function explainUnusable(
  error: unknown,
  { isEmbedded = false, variable }: PostgresUrlSource = {}
): OperatorError {
  const known = toOperatorError(error)
  if (known !== null) return known
  const tlsFault = findTlsFault(error)
  if (tlsFault !== null)
    return new AdvisedError(
      `the certificate of Postgres ${tlsFault} (${describeError(error)})`,
      adviceForCertificate(errorCodeOf(error), variable ?? 'the URL'),
      { cause: error }
    )
  const [name, advice] = isEmbedded
    ? [
        'the Postgres of this Cuewire does not answer',
        'restart Cuewire; if it uses your own Postgres, start that'
      ]
    : [
        `Postgres does not answer${variable === undefined ? '' : ` at ${variable}`}`,
        'start it, or correct the URL'
      ]
  return new AdvisedError(`${name} (${describeError(error)})`, advice, { cause: error })
}

function adviceForCertificate(code: string, variable: string): string {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `use a host in ${variable} that the certificate contains, or sslmode=verify-ca`
  if (['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID', 'CERT_REVOKED'].includes(code))
    return 'replace it, and let Postgres read it with select pg_reload_conf()'
  return `name its authority with sslrootcert in ${variable} or with NODE_EXTRA_CA_CERTS, or correct the certificate`
}

/**
 * Checks that Postgres answers, is version 14 or later, stores Unicode, and keeps the session of a connection. Throws
 * an `OperatorError`.
 */
export async function assertPostgresUsable(
  url: string,
  place: PostgresUrlSource = { variable: 'DATABASE_URL' }
): Promise<void> {
  const [sql, other] = [openSql(url, { max: 1, name: 'check' }), openSql(url, { max: 1, name: 'check' })]
  try {
    await checkServer(sql, place.variable ?? 'the URL')
    await assertSessionsKept(sql, other)
  } catch (error) {
    throw (await explainMissingSession(error)) ?? explainUnusable(error, place)
  } finally {
    await Promise.all([sql.end({ timeout: 1 }), other.end({ timeout: 1 })])
  }
}

/**
 * Explains a connection without a session: a pooler accepts more connections than it has sessions. Null for other
 * errors.
 */
async function explainMissingSession(error: unknown): Promise<OperatorError | null> {
  // The wait for a session ends by either limit. The message ends with the address.
  if (!['CONNECT_TIMEOUT', 'CONNECTION_CLOSED'].includes(errorCodeOf(error)) || !(error instanceof Error))
    return null
  const [, place, host, port] = /((\S+):(\d+))$/.exec(error.message) ?? []
  if (host === undefined || !(await accepts(host, Number(port)))) return null
  const needs = `${countConnections('server')} for each server and ${countConnections('workers')} for each workers process`
  return new AdvisedError(
    `Postgres, or a pooler in front of it, accepts connections at ${place}, but gives no session (${describeError(error)})`,
    `if it is a pooler, all its sessions are in use: raise its default_pool_size to ${needs}; otherwise see the log of Postgres`,
    { cause: error }
  )
}

const acceptMs = 2_000

const accepts = (host: string, port: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect({ host, port, timeout: acceptMs })
    const end = (isAccepted: boolean) => {
      socket.destroy()
      resolve(isAccepted)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
    socket.once('timeout', () => end(false))
  })

async function checkServer(sql: Sql, variable: string): Promise<void> {
  const [row] = await sql<
    { number: number; name: string; server: string; client: string; role: string; database: string }[]
  >`
    select current_setting('server_version_num')::int as number, current_setting('server_version') as name,
      current_setting('server_encoding') as server, current_setting('client_encoding') as client,
      quote_ident(current_user) as role, quote_ident(current_database()) as database`
  if (!row || row.number < 140_000)
    throw new AdvisedError(`Postgres ${row?.name} is too old`, `${variable} needs version 14 or newer`)
  if (row.server !== 'UTF8')
    throw new AdvisedError(
      `the database ${row.database} has the encoding ${row.server}, which cannot store all titles`,
      `create another one (createdb --encoding UTF8 --template template0 --owner ${row.role} NAME), and set ${variable} to it`
    )
  if (row.client !== 'UTF8')
    throw new AdvisedError(
      `client_encoding of the connection is ${row.client}`,
      `remove client_encoding from the options in ${variable}`
    )
}
