import { createConfig, lintFromString } from '@redocly/openapi-core'
import { expect } from 'vitest'

import { test } from '../support/fixtures.ts'

test('the document follows the recommended rules of Redocly', { timeout: 60_000 }, async ({ program }) => {
  const { status, headers, body } = await program.ask('GET', '/api/openapi.json', { key: '' })
  expect(status).toBe(200)
  expect(headers.get('content-type')).toMatch(/^application\/json/)
  const problems = await lintFromString({
    source: JSON.stringify(body),
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
    problems.map(({ severity, ruleId, message, location: [at] }) => [severity, ruleId, message, at?.pointer])
  ).toEqual([])
})
