import { randomInt } from 'node:crypto'

import { signedIn, signIn } from '../support/people.ts'
import { askPlainly, headersOf, type PlainResponse } from '../support/plain-http.ts'
import { adminKey, type JsonBody, type Program } from '../support/program.ts'
import { seedStation } from '../support/stations.ts'
import { waitFor } from '../support/wait.ts'
import { fillPath, type Known, orderSteps, type StepRequest, steps } from './every-operation.ts'
import type { DocumentedOperation, readDocument, Received } from './response-judge.ts'

export type Dialect = 'documented' | 'azuracast'

/** What one operation answered. */
export interface Result {
  readonly id: string
  readonly method: string
  /** `/api/station/{station_id}/queue` */
  readonly path: string
  /** The same with parameters. */
  readonly asked: string
  readonly status: number
  readonly headers: Headers
  readonly problems: readonly string[]
  /** Number of entries that it wrote to the audit log. */
  readonly audits: number
  readonly json: JsonBody
}

interface Around {
  /** Where web hooks go. */
  readonly hookUrl: string
  readonly icecastUrl: string
}

/** A station with songs, a playlist, a mount, an HLS stream, a remote and a playout whose streamer is live. */
export async function openFullStation(
  program: Program,
  dialect: Dialect,
  { hookUrl, icecastUrl }: Around
): Promise<Known> {
  const { sql } = program
  // Long songs, so that a day is simulated with few plays.
  const id = await seedStation(sql, { queueLength: 4, songMs: 1_800_000 })
  const clockStation = await seedStation(sql)
  const ask = async (method: string, path: string, body: unknown) => {
    const response = await program.ask(method, path, { body })
    if (response.status !== 200)
      throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`)
    return response.body
  }
  await ask('PUT', `/api/admin/station/${id}`, {
    backend: 'liquidsoap',
    frontend: 'icecast',
    frontend_url: icecastUrl,
    frontend_admin_password: 'open sesame',
    enable_streamers: true,
    enable_requests: true,
    hls_enabled: true,
    request_delay: 0,
    request_threshold: 0
  })
  await ask('POST', `/api/station/${id}/remotes`, {
    name: 'Mirror',
    url: 'http://127.0.0.1:9/mirror.mp3',
    is_visible: true
  })
  const { playout_key: playoutKey } = await ask('POST', `/api/station/${id}/playout-key`, {})
  const callers = await openCallers(program, dialect)
  const shown = await waitFor(
    async () => {
      const { status, body } = await program.ask('GET', `/api/nowplaying/${id}`)
      return status === 200 && body
    },
    { deadlineMs: 15_000, what: 'now playing of the station' }
  )
  return {
    station_id: id,
    stationName: dialect === 'documented' ? shown.station.shortcode : id,
    station: id,
    playoutStation: id,
    playoutKey,
    clockStation,
    ...callers,
    hookUrl,
    storageFolder: program.dataDir,
    tag: `${id}_${randomInt(100_000)}`
  }
}

/** A station that was just created. */
export async function openEmptyStation(program: Program, dialect: Dialect): Promise<Known> {
  const { body } = await program.ask('POST', '/api/admin/stations', {
    body: { name: 'Empty', short_name: `empty_${dialect}_${randomInt(100_000)}` }
  })
  const { body: made } = await program.ask('POST', `/api/station/${body.id}/playout-key`, { body: {} })
  return {
    station_id: body.id,
    station: body.id,
    playoutKey: made.playout_key,
    ...(await openCallers(program, dialect))
  }
}

/** A key and a session of administrators, and a passkey, which only a browser could make. */
async function openCallers(program: Program, dialect: Dialect) {
  const { body } = await program.ask('POST', '/api/v1/main/api-keys', {
    body: {
      name: `Every ${dialect}`,
      permissions: ['administer all'],
      dialect: dialect === 'documented' ? null : dialect
    }
  })
  const person = await signedIn(program, { role: 'Administrator' })
  const [passkey] = await program.sql<{ id: number }[]>`
    insert into passkeys (user_id, credential_id, public_key, counter, name)
    values (${person.id}, ${`every-${person.id}`}, 'every', 0, 'Every') returning id`
  const otherCookie = await signIn(program, person.email)
  return {
    adminKey: String(body.key),
    cookie: person.cookie,
    otherCookie,
    email: person.email,
    passkey: passkey?.id ?? 0
  }
}

/** Sends a request for every operation that only reads. */
export const runReads = (program: Program, document: ReturnType<typeof readDocument>, known: Known) =>
  runSteps(
    program,
    { ...document, operations: document.operations.filter(({ method }) => method === 'GET') },
    known
  )

/** Sends a request for every operation of a document, in order. */
export async function runSteps(
  program: Program,
  { operations, judge }: ReturnType<typeof readDocument>,
  known: Known
): Promise<Result[]> {
  const results: Result[] = []
  for (const operation of orderSteps(operations)) {
    const step = steps[operation.id] ?? {}
    const request = (await step.request?.(known, program.sql)) ?? {}
    const path = fillPath(operation.path, known, request.params) + (request.query ? `?${request.query}` : '')
    const lastId = await findLastAudit(program)
    const response = await send(program, operation, path, request, known)
    const audits = await countAudits(program, lastId)
    const received = read(response)
    if (received.status < 400) await step.after?.(known, received, program.sql)
    results.push({
      id: operation.id,
      method: operation.method,
      path: operation.path,
      asked: path,
      status: received.status,
      headers: headersOf(response),
      problems: judge(operation.id, received),
      audits,
      json: received.json
    })
  }
  return results
}

async function findLastAudit({ sql }: Program): Promise<number> {
  const [row] = await sql<{ id: number }[]>`select coalesce(max(id), 0) as id from audit_log`
  return row?.id ?? 0
}

async function countAudits({ sql }: Program, afterId: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*) from audit_log where id > ${afterId}`
  return row?.count ?? 0
}

async function send(
  { baseUrl }: Program,
  { method, body }: DocumentedOperation,
  path: string,
  request: StepRequest,
  known: Known
): Promise<PlainResponse> {
  const sent = request.body ?? (body?.type === 'application/json' ? body.schema.examples?.[0] : undefined)
  const credentials = {
    person: { Cookie: String(known['cookie']) },
    other: { Cookie: String(known['otherCookie']) },
    playout: { 'X-API-Key': String(known['playoutKey']) },
    nobody: {},
    admin: { 'X-API-Key': String(known['adminKey'] ?? adminKey) }
  }[request.as ?? 'admin']
  return askPlainly(baseUrl + path, {
    method,
    headers: {
      'X-Requested-With': 'test',
      ...credentials,
      ...(sent === undefined ? {} : { 'Content-Type': request.type ?? 'application/json' }),
      ...request.headers
    },
    body: sent === undefined || Buffer.isBuffer(sent) ? sent : JSON.stringify(sent)
  })
}

function read(response: PlainResponse): Received {
  const type = response.headers['content-type'] ?? ''
  const isJson = type.startsWith('application/json') && response.body.length > 0
  return {
    status: response.status,
    type,
    bytes: response.body.length,
    json: isJson ? JSON.parse(response.body.toString()) : undefined,
    location: response.headers['location'] ?? ''
  }
}
