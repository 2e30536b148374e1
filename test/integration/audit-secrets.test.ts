import { expect } from 'vitest'

import type { ResourceBase } from '../../src/api/core/resource.ts'
import type { Field } from '../../src/model/fields/field.ts'
import { exampleOfField } from '../../src/model/fields/validators.ts'
import { hookTypes } from '../../src/webhooks/types/hook-types.ts'
import { isolatedTest } from '../support/fixtures.ts'
import { resources } from '../support/resources.ts'
import { seedStation } from '../support/stations.ts'

const test = isolatedTest
  // oxlint-disable-next-line no-empty-pattern
  .extend('serverVariables', { scope: 'file' }, async ({}) => ({ WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' }))

/** What the creation of a record needs beside its secrets. */
const required: Readonly<Record<string, object>> = {
  Playlist: { name: 'Secret', source: 'remote_url' },
  HlsStream: { name: '/hls/secret' },
  Remote: { name: 'Secret', url: 'http://127.0.0.1:9999/secret.mp3' },
  SftpUser: { username: 'secret' },
  Streamer: { streamer_username: 'secret' },
  StorageLocation: {
    type: 'station_media',
    adapter: 's3',
    s3Bucket: 'secret',
    s3Region: 'x',
    s3CredentialKey: 'KEY-first'
  },
  Station: { name: 'Secret', short_name: 'with_secrets' }
}

let count = 0

/** Values of the fields that hold secrets; each contains one. */
function secretBody({ fields }: ResourceBase): {
  readonly body: object
  readonly secrets: readonly string[]
} {
  const secrets: string[] = []
  const valueOf = ({ kind }: Field<unknown>) => {
    const secret = `s3cret-${++count}-value`
    secrets.push(secret)
    return kind === 'secret' ? secret : `http://127.0.0.1:9999/${secret}/list.m3u?key=${secret}`
  }
  const holding = Object.entries(fields).filter(([, { kind }]) =>
    ['secret', 'private address'].includes(kind)
  )
  return { body: Object.fromEntries(holding.map(([name, field]) => [name, valueOf(field)])), secrets }
}

const withSecrets = resources.filter(each => secretBody(each).secrets.length > 0)

test.for(withSecrets)('changes of a record "$name" leave no secret', async (resource, { program }) => {
  const stationId = await seedStation(program.sql)
  const pathOf = (path: string, id = 0) => path.replace(':station_id', `${stationId}`).replace(':id', `${id}`)
  const first = secretBody(resource)
  const second = secretBody(resource)
  const made = await program.ask('POST', pathOf(resource.paths.list), {
    body: { ...required[resource.name], ...first.body }
  })
  expect([made.status, made.body.errors ?? made.body.extra_data?.errors]).toEqual([200, undefined])
  const one = pathOf(resource.paths.one, made.body.id)
  expect(await program.ask('PUT', one, { body: second.body })).toMatchObject({ status: 200 })
  expect(await program.ask('DELETE', one)).toMatchObject({ status: 200 })
  const entries = await program.sql<{ method: string; entry: string }[]>`
    select method, to_jsonb(a)::text as entry from audit_log a
    where record = ${resource.name} and record_id = ${String(made.body.id)} order by id`
  expect(entries.map(({ method }) => method)).toEqual(['POST', 'PUT', 'DELETE'])
  const text = entries.map(({ entry }) => entry).join('\n')
  expect([...first.secrets, ...second.secrets].filter(secret => text.includes(secret))).toEqual([])
  for (const name of Object.keys(second.body)) expect(text).toContain(`"${name}"`)
})

test('changes of web hooks of every type leave no secret', async ({ program }) => {
  const stationId = await seedStation(program.sql)
  const secrets: string[] = []
  for (const { name: type, settings, urls, made: generators } of hookTypes) {
    const config = Object.entries<Field<unknown>>(settings).flatMap(([key, field]) => {
      const isAddress = urls.includes(key)
      if (field.kind !== 'secret' && !isAddress)
        return field.fallback === undefined
          ? [{ key, value: exampleOfField(field) || (field.schema['type'] === 'integer' ? 1 : 'text') }]
          : []
      const secret = generators[key]?.() ?? `s3cret-${++count}-value`
      secrets.push(secret)
      return [
        {
          key,
          value: isAddress
            ? `http://127.0.0.1:9999/${secret}?key=${secret}`
            : key === 'headers'
              ? `X-Token: ${secret}`
              : secret
        }
      ]
    })
    const body = { name: type, type, config }
    const made = await program.ask('POST', `/api/station/${stationId}/webhooks`, { body })
    expect([type, made.status, made.body.message]).toEqual([type, 200, undefined])
    const one = `/api/station/${stationId}/webhook/${made.body.id}`
    expect(await program.ask('PUT', one, { body: { config: [] } })).toMatchObject({ status: 200 })
    expect(await program.ask('DELETE', one)).toMatchObject({ status: 200 })
  }
  expect(secrets.length).toBeGreaterThan(10)
  const entries = await program.sql<{ entry: string }[]>`
    select to_jsonb(a)::text as entry from audit_log a where record = 'Webhook'`
  expect(entries.length).toBeGreaterThanOrEqual(2 * hookTypes.length)
  const text = entries.map(({ entry }) => entry).join('\n')
  expect(secrets.filter(secret => text.includes(secret))).toEqual([])
})
