import { describe, expect } from 'vitest'

import { readDocument } from '../contract/answer-judge.ts'
import { type Known, refused } from '../contract/every-operation.ts'
import {
  type Dialect,
  openEmptyStation,
  openFullStation,
  runReads,
  runSteps
} from '../contract/operation-run.ts'
import { differencesFromRows } from '../contract/row-answers.ts'
import { isolatedTest } from '../support/fixtures.ts'
import { startMailServer } from '../support/mail-server.ts'
import type { Program } from '../support/program.ts'
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

describe('the OpenAPI document', { timeout: 120_000 }, () => {
  test.for(dialects)(
    'describes every answer of a station that has everything, in the dialect "%s"',
    async (dialect, { program }) => {
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
