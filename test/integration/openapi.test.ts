import { gunzipSync } from 'node:zlib'

import { createConfig, lintFromString } from '@redocly/openapi-core'
import { expect } from 'vitest'

import { azuracastOpenApiDialect } from '../../src/api/azuracast/with-dialects.ts'
import { describeApi } from '../../src/api/core/openapi.ts'
import type { ApiRoute } from '../../src/api/core/route.ts'
import { apiRoutes } from '../../src/api/routes.ts'
import { test } from '../support/fixtures.ts'
import { askPlainly } from '../support/plain-http.ts'

const routes = apiRoutes.filter((route): route is ApiRoute => route.operation !== undefined)

test.for(['documented', 'azuracast'])(
  'the document of the dialect "%s" follows the recommended rules of Redocly',
  { timeout: 60_000 },
  async (dialect, { program }) => {
    const { status, headers, body } = await program.ask('GET', '/api/openapi.json', { key: '' })
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^application\/json/)
    const ofAzuracast = () => describeApi(routes, program.baseUrl, azuracastOpenApiDialect)
    const problems = await lintFromString({
      source: JSON.stringify(dialect === 'documented' ? body : await ofAzuracast()),
      config: await createConfig({
        extends: ['recommended'],
        rules: {
          // The server URL of a test is localhost.
          'no-server-example.com': 'off',
          // A public read without parameters has no errors, and tags need no description.
          'operation-4xx-response': 'off',
          'tag-description': 'off',
          // The cover of the current song is a redirect only.
          'operation-2xx-response': 'off',
          // Rules beyond the recommended ones: references resolve, and examples are valid.
          'no-required-schema-properties-undefined': 'error',
          'no-schema-type-mismatch': 'error',
          'no-invalid-schema-examples': 'error',
          'no-invalid-parameter-examples': 'error'
        }
      })
    })
    expect(
      problems.map(({ severity, ruleId, message, location: [at] }) => [
        severity,
        ruleId,
        message,
        at?.pointer
      ])
    ).toEqual([])
  }
)

test.for(['/api/openapi.json', '/api/openapi.yml'])(
  '%s is sent compressed, and with status 304 to who has it',
  async (path, { program }) => {
    const ask = (headers: Readonly<Record<string, string>>) => askPlainly(program.baseUrl + path, { headers })
    const plain = await ask({})
    const compressed = await ask({ 'Accept-Encoding': 'gzip' })
    expect(compressed.headers).toMatchObject({ 'content-encoding': 'gzip', etag: plain.headers.etag })
    expect(compressed.body.length).toBeLessThan(plain.body.length / 5)
    expect(gunzipSync(compressed.body).equals(plain.body)).toBe(true)
    const again = await ask({ 'If-None-Match': String(plain.headers.etag) })
    expect([again.status, again.body.length]).toEqual([304, 0])
  }
)
