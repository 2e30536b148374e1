import { readFileSync } from 'node:fs'

import { describe, expect } from 'vitest'

import { readKnownResponses } from '../contract/azuracast-reads.ts'
import {
  fillIn,
  type Known,
  readsByWriteMethod,
  writeGroups,
  type WriteStep,
  writesTestedElsewhere
} from '../contract/azuracast-writes.ts'
import { expectStatus } from '../contract/calls.ts'
import { isolatedTest as base } from '../support/fixtures.ts'
import { anyAddress, signedIn } from '../support/people.ts'
import { askPlainly } from '../support/plain-http.ts'
import { startPlaying } from '../support/playing.ts'
import type { JsonBody, Program } from '../support/program.ts'

/** What the steps need, and how they send requests. */
const test = base.extend('world', { scope: 'file' }, async ({ program }) => {
  const body = { name: 'Writes', permissions: ['administer all'], dialect: 'azuracast' }
  const { body: made } = await program.ask('POST', '/api/v1/main/api-keys', { body })
  const { cookie, id } = await signedIn(program)
  return { known: await makeKnown(program, id), keys: { admin: String(made.key), cookie } }
})

async function makeKnown(program: Program, userId: number): Promise<Known> {
  const { id: station } = await startPlaying(program, { queueLength: 5, songMs: 600_000 })
  const ask = async (method: string, path: string, sent?: unknown): Promise<JsonBody> => {
    const { status, body } = await program.ask(method, `/api${path}`, { body: sent })
    expectStatus({ status, body }, 200)
    return body
  }
  const addFile = async (path: string) =>
    Number((await ask('POST', `/station/${station}/files`, { path, title: path, length: 60 })).id)
  const streamer = await ask('POST', `/station/${station}/streamers`, { streamer_username: 'seeded' })
  const broadcasts = await program.sql<{ id: number }[]>`
    insert into broadcasts (station_id, streamer_id, username, streamer_name, started_at_ms, ended_at_ms)
    select ${station}, ${streamer.id}, 'seeded', 'Seeded', x * 1000, x * 1000 + 500 from generate_series(1, 2) x
    returning id`
  const [passkey] = await program.sql<{ id: number }[]>`
    insert into passkeys (user_id, credential_id, public_key, counter, name)
    values (${userId}, ${`contract-${userId}`}, 'key', 0, 'Contract') returning id`
  const [rotation] = await ask('GET', `/station/${station}/playlists`)
  const requestable = await ask('GET', `/station/${station}/requests`)
  return {
    station,
    rotation: rotation.id,
    fileA: await addFile('contract/a.mp3'),
    fileB: await addFile('contract/b.mp3'),
    asset: 'browser_icon',
    streamStation: (await ask('POST', '/admin/stations', { name: 'Contract stream', backend: 'none' })).id,
    seededStreamer: streamer.id,
    broadcast: broadcasts[0]?.id ?? 0,
    otherBroadcast: broadcasts[1]?.id ?? 0,
    passkey: passkey?.id ?? 0,
    requestable: requestable.at(-1).request_id
  }
}

interface Caller {
  readonly key?: string
  readonly cookie?: string
}

async function send({ baseUrl }: Program, method: string, path: string, caller: Caller, body?: unknown) {
  const { key, cookie } = caller
  // Forms get their boundary from the headers that the platform makes of them.
  const content = body === undefined ? null : new Response(isContent(body) ? body : JSON.stringify(body))
  const type = content?.headers.get('content-type')
  const response = await askPlainly(`${baseUrl}/api${path}`, {
    method,
    headers: {
      Accept: 'application/json',
      'X-Forwarded-For': anyAddress(),
      ...(key === undefined ? {} : { 'X-API-Key': key }),
      ...(cookie === undefined ? {} : { Cookie: cookie, 'X-Requested-With': 'contract' }),
      ...(content && {
        'Content-Type': isForm(type) ? type : isContent(body) ? 'image/png' : 'application/json'
      })
    },
    body: content ? Buffer.from(await content.arrayBuffer()) : undefined
  })
  const contentType = response.headers['content-type'] ?? ''
  const text = response.body.toString()
  const parsed: JsonBody = contentType.startsWith('application/json') ? JSON.parse(text) : text
  return { status: response.status, type: contentType, body: parsed }
}

const isContent = (body: unknown): body is FormData | Buffer =>
  body instanceof FormData || Buffer.isBuffer(body)
const isForm = (type: string | null | undefined): type is string => type?.startsWith('multipart/') === true

const fillPath = (path: string, known: Known) =>
  path.replaceAll(/\{([^}]+)\}/g, (_, name: string) =>
    encodeURIComponent(String(known[name] ?? `no ${name}`))
  )

/** The path of an operation: a parameter without a name of its own has that of the part before it. */
function pathOf({ call, params = {} }: WriteStep, known: Known): string {
  const parts = call.slice(call.indexOf('/')).split('/')
  const named = parts.map((part, index) => {
    const [, parameter] = /^\{(.+)\}$/.exec(part) ?? []
    if (parameter === undefined) return part
    const before = parts[index - 1] ?? ''
    return `{${params[parameter] ?? before}}`
  })
  return fillPath(named.join('/'), known)
}

describe('what is written in the dialect of AzuraCast is read back:', () => {
  test.for(Object.entries(writeGroups))('%s', async ([, steps], { program, world: { known, keys } }) => {
    for (const step of steps) {
      const caller = step.isSession === true ? { cookie: keys.cookie } : { key: keys.admin }
      const [method = ''] = step.call.split(' ')
      const made = await send(program, method, pathOf(step, known), caller, fillIn(step.body, known))
      expect(made.status, `${step.call} answered ${JSON.stringify(made.body)}`).toBeOneOf([200, 201])
      for (const [name, member] of Object.entries(step.keeps ?? {})) known[name] = made.body[member]
      const { readKey } = step
      const reader =
        readKey === undefined
          ? { key: keys.admin }
          : readKey === 'session'
            ? { cookie: keys.cookie }
            : { key: String(known[readKey]) }
      const read = await send(program, 'GET', fillPath(step.read, known), reader)
      Object.assign(known, step.finds?.(read.body))
      expect(read, `after ${step.call}`).toMatchObject(fillIn(step.shows, known))
    }
  })

  test('every write that docs/azuracast.md lists as valid', () => {
    const covered = new Set([
      ...Object.values(writeGroups).flatMap(steps => steps.map(({ call }) => call)),
      ...Object.keys(writesTestedElsewhere),
      ...readsByWriteMethod
    ])
    const listed = readValidOperations(['POST', 'PUT', 'DELETE'])
    expect(listed.length).toBeGreaterThan(70)
    expect(listed.filter(call => !covered.has(call))).toEqual([])
    for (const [file, part] of Object.values(writesTestedElsewhere))
      expect(readFileSync(new URL(`${file}.test.ts`, import.meta.url), 'utf8')).toContain(part)
  })
})

test('every list and report that docs/azuracast.md lists as valid answers, with what is known', async ({
  program,
  world: { known, keys }
}) => {
  const paths = readValidOperations(['GET'])
    .map(call => call.replace('GET ', '').replace('{station_id}', '{station}'))
    .filter(path => /^[^{]*(?:\{station\}[^{]*)?$/.test(path) && !needsMore.test(path))
  expect(paths.length).toBeGreaterThan(60)
  const responses = new Map<string, JsonBody>()
  const wrong: string[] = []
  // One after the other: all at once would be more than the server accepts on a busy machine.
  for (const path of paths) {
    const caller = path.startsWith('/frontend/account/') ? { cookie: keys.cookie } : { key: keys.admin }
    const { status, type, body } = await send(program, 'GET', fillPath(path, known), caller)
    responses.set(path, body)
    if (status !== 200 && !(status === 302 && path.endsWith('/art'))) wrong.push(`${path}: ${status} ${type}`)
  }
  expect(wrong).toEqual([])
  const { global, station } = responses.get('/admin/permissions')
  for (const list of [global, station])
    list.sort((a: { id: string }, b: { id: string }) => a.id.localeCompare(b.id))
  const expected = await readKnownResponses(program.sql, Number(known['station']))
  for (const [path, part] of Object.entries(expected))
    expect({ path, body: responses.get(path) }).toMatchObject({ path, body: part })
})

/** Reads that need a streaming server with listeners, or the path of a file. */
const needsMore = /\/listeners$|\/overview\/by-|\/files\/download$/

/** The operations that docs/azuracast.md lists as valid, with their methods. */
function readValidOperations(methods: readonly string[]): string[] {
  const page = readFileSync(new URL('../../docs/azuracast.md', import.meta.url), 'utf8')
  const rows = page.matchAll(/^\| `((\w+) [^`]+)` \| valid/gm)
  return [...rows].flatMap(([, call = '', method = '']) => (methods.includes(method) ? [call] : []))
}
