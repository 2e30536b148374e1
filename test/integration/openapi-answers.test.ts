import { writeFileSync } from 'node:fs'

import { describe, expect } from 'vitest'

import { readDocument } from '../contract/answer-judge.ts'
import { openFullStation, runSteps } from '../contract/operation-run.ts'
import { isolatedTest } from '../support/fixtures.ts'
import { startMailServer } from '../support/mail-server.ts'
import { startFakeIcecast } from '../support/streaming-server.ts'
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

describe('the OpenAPI document', { timeout: 300_000, retry: 0 }, () => {
  test('describes every answer of a station that has everything', async ({ program }) => {
    await using hooks = await startWebServer()
    await using icecast = await startFakeIcecast()
    const { body } = await program.ask('GET', '/api/openapi.json', { key: '' })
    const document = readDocument(body)
    const known = await openFullStation(program, 'documented', {
      hookUrl: hooks.url,
      icecastUrl: icecast.url
    })
    const results = await runSteps(program, document, known)
    if (process.env['OUT']) writeFileSync(process.env['OUT'], results.map(r => JSON.stringify(r)).join('\n'))
    expect(results.filter(({ problems }) => problems.length > 0)).toEqual([])
  })
})
