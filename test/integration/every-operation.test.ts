import { describe, expect } from 'vitest'

import { apiRoutes } from '../../src/api/routes.ts'
import { completions, unaudited, unproven } from '../contract/audited-operations.ts'
import { type Known, refused } from '../contract/every-operation.ts'
import {
  type Dialect,
  openEmptyStation,
  openFullStation,
  runReads,
  runSteps
} from '../contract/operation-run.ts'
import { readDocument } from '../contract/response-judge.ts'
import { differencesFromRows } from '../contract/row-responses.ts'
import { isolatedTest } from '../support/fixtures.ts'
import { startMailServer } from '../support/mail-server.ts'
import type { Program } from '../support/program.ts'
import { seedStation } from '../support/stations.ts'
import { startFakeIcecast } from '../support/streaming-server.ts'
import { isDeep } from '../support/tier.ts'
import { startWebServer } from '../support/web-server.ts'

const test = isolatedTest
  // oxlint-disable-next-line no-empty-pattern
  .extend('mail', { scope: 'file' }, async ({}, { onCleanup }) => {
    const mail = await startMailServer()
    onCleanup(mail[Symbol.asyncDispose])
    return mail
  })
  .extend('serverVariables', { scope: 'file' }, async ({ mail }) => ({
    SMTP_URL: mail.url,
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8'
  }))

/** Lists show the dialect of keys that have one, so these come last. */
const dialects: readonly Dialect[] = ['documented', 'azuracast']

/** By dialect: compiling the schemas of an answer takes longer than the answer. */
const documents = new Map<Dialect, ReturnType<typeof readDocument>>()

/** The document that describes the dialect of a key. */
async function fetchDocument(program: Program, dialect: Dialect, { adminKey }: Known) {
  const known = documents.get(dialect)
  if (known) return known
  const { body } = await program.ask('GET', '/api/openapi.json', { key: String(adminKey) })
  const document = readDocument(body)
  documents.set(dialect, document)
  return document
}

/** By dialect: two tests look at the answers. */
const walks = new Map<Dialect, ReturnType<typeof walk>>()

const walkOnce = (program: Program, dialect: Dialect) => {
  const results = walks.get(dialect) ?? walk(program, dialect)
  walks.set(dialect, results)
  return results
}

/** Calls every operation for a station that has everything. */
async function walk(program: Program, dialect: Dialect) {
  await using hooks = await startWebServer()
  await using icecast = await startFakeIcecast()
  icecast.send({
    path: '/radio.mp3',
    title: 'Aria',
    bitrate: 128,
    contentType: 'audio/mpeg',
    listeners: [['203.0.113.7', 'VLC/3.0.20 LibVLC/3.0.20', 600]]
  })
  const known = await openFullStation(program, dialect, { hookUrl: hooks.url, icecastUrl: icecast.url })
  const results = await runSteps(program, await fetchDocument(program, dialect, known), known)
  return { known, results }
}

describe('the OpenAPI document', { timeout: 120_000 }, () => {
  test.for(dialects)(
    'describes every answer of a station that has everything, in the dialect "%s"',
    async (dialect, { program }) => {
      const { results } = await walkOnce(program, dialect)
      expect(results.filter(({ problems }) => problems.length > 0)).toEqual([])
      expect(results.filter(({ id, status }) => status >= 400 && !(id in refused))).toEqual([])
      expect(differencesFromRows(results, dialect)).toEqual([])
      const shown = results.find(({ id }) => id === 'getNowPlaying')?.json
      expect(shown).toMatchObject({
        station: { mounts: expect.any(Array), remotes: expect.any(Array), hls_enabled: true },
        live: { is_live: true }
      })
      const { mounts, remotes } = shown.station
      expect([mounts.length, remotes.length, shown.song_history.length]).not.toContain(0)
    }
  )

  test.for(isDeep ? dialects : dialects.slice(0, 1))(
    'describes every answer of a station that has nothing, in the dialect "%s"',
    async (dialect, { program }) => {
      const known = await openEmptyStation(program, dialect)
      const results = await runReads(program, await fetchDocument(program, dialect, known), known)
      expect(results.filter(({ problems }) => problems.length > 0)).toEqual([])
    }
  )

  test('has another entity tag in another dialect', async ({ program }) => {
    const tags = await Promise.all(
      ['documented', 'azuracast'].map(async dialect => {
        const { body } = await program.ask('POST', '/api/v1/main/api-keys', {
          body: { name: dialect, dialect }
        })
        const { headers } = await program.ask('GET', '/api/openapi.json', { key: body.key })
        expect(headers.get('vary')).toContain('X-API-Key')
        return headers.get('etag')
      })
    )
    expect(new Set(tags).size).toBe(2)
  })
})

describe('the audit log', { timeout: 120_000 }, () => {
  /** The ids of documented operations that change something. */
  const changing = apiRoutes.flatMap(({ method, changes, operation }) =>
    operation && (method !== 'GET' || changes) ? [operation.id] : []
  )

  test('has an entry of every call that changed something, except of those that are listed', async ({
    program
  }) => {
    const { results } = await walkOnce(program, 'documented')
    const audits = new Map(results.map(result => [result.id, result.audits]))
    for (const [id, complete] of Object.entries(completions))
      audits.set(id, await countEntries(program, complete))
    const silent = changing.filter(id => !audits.get(id))
    const listed = [...Object.keys(unaudited), ...Object.keys(unproven)]
    expect(silent.toSorted()).toEqual(listed.toSorted())
  })

  test('says in names, not only in ids, what was changed and where', async ({ program }) => {
    const { known } = await walkOnce(program, 'documented')
    const nameless = await program.sql<{ record: string }[]>`
      select distinct record from audit_log where record_name = '' and record_id <> '*'`
    // Sessions are named after their program, which tests do not say.
    const allowed = new Set(['CustomAsset', 'ListenerSession', 'Queue', 'Session', 'Settings'])
    expect(nameless.filter(({ record }) => !allowed.has(record))).toEqual([])
    const [playlist] = await program.sql`
      select record_name, station_name, changes from audit_log
      where record = 'Playlist' and method = 'PUT' and fields = '["name"]' and station_id = ${known['station_id'] ?? 0}`
    expect(playlist).toEqual({
      record_name: 'Changed',
      station_name: expect.any(String),
      changes: { name: { from: 'Every operation', to: 'Changed' } }
    })
  })

  test('has no secret that the operations were called with or answered', async ({ program }) => {
    const { known, results } = await walkOnce(program, 'documented')
    const made = results
      .flatMap(({ json }) => [json?.key, json?.playout_key, json?.signing_secret, json?.token])
      .filter(secret => String(secret).length >= 16)
    const secrets = [
      'correct horse battery',
      'another long password',
      'a long enough password',
      'open sesame',
      known['cookie'],
      known['token'],
      ...made
    ].flatMap(secret => (secret ? [String(secret).split(/[:.]/).at(-1) ?? ''] : []))
    expect(secrets.length).toBeGreaterThan(8)
    const entries = await program.sql<{ entry: string }[]>`select to_jsonb(a)::text as entry from audit_log a`
    expect(secrets.filter(secret => entries.some(({ entry }) => entry.includes(secret)))).toEqual([])
  })
})

type Completion = (typeof completions)[string]

/** The number of entries that the last call of a completion wrote. */
async function countEntries(program: Program, complete: Completion): Promise<number> {
  const stationId = await seedStation(program.sql)
  let lastPath = ''
  await complete(
    async (method, path, body) => {
      lastPath = `/api/${path}`
      const response = await program.ask(method, lastPath, { body })
      expect([method, path, response.status]).toEqual([method, path, 200])
      return response.body
    },
    program,
    stationId
  )
  const rows = await program.sql`select from audit_log where path = ${lastPath}`
  return rows.length
}
