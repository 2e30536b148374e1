import { readFileSync } from 'node:fs'

import { expect, test } from 'vitest'
import { parse } from 'yaml'

import { configVariableNames } from '../../../src/config.ts'

interface Service {
  readonly environment: Readonly<Record<string, string | number>>
  readonly volumes: readonly string[]
  readonly stop_grace_period: string
}

const read = (name: string) => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8')
const { services }: { services: { server: Service; workers: Service } } = parse(read('docker-compose.yml'), {
  merge: true
})
const { server, workers } = services

/** Variables that are not those of `.env`, and why. */
const notPassed: Readonly<Record<string, string>> = {
  PORT: 'PORT of .env is the port on the host; in the container it is always 8080',
  HOST: 'the image sets it',
  DATA_DIR: 'the image sets it',
  REDIS_CA_FILE: 'the service redis has no TLS',
  DEMO: 'only for npm start',
  MEDIA_DIR: 'only for npm start',
  SERVER_PROCESSES: 'only for npm start'
}

/** Variables with the same value in each installation, and why. */
const fixed: Readonly<Record<string, string>> = {
  DATABASE_URL: 'the service postgres',
  REDIS_URL: 'the service redis',
  METRICS_PORT: 'Prometheus of the profile observability finds it there',
  METRICS_HOST: 'Prometheus is another service'
}

test('docker-compose.yml passes every variable of .env to the servers and the workers', () => {
  const passed = Object.entries(server.environment)
    .filter(([name, value]) => String(value).startsWith(`\${${name}:`))
    .map(([name]) => name)
  const expected = configVariableNames.filter(name => !(name in notPassed) && !(name in fixed))
  expect(passed.filter(name => !name.startsWith('OTEL_TRACES_SAMPLER')).toSorted()).toEqual(
    expected.toSorted()
  )
  for (const name of Object.keys(fixed)) expect(server.environment).toHaveProperty(name)
  for (const name of Object.keys(notPassed)) expect(server.environment).not.toHaveProperty(name)
  expect(workers.environment).toEqual(server.environment)
})

test('docs/docker.md lists the variables that differ', () => {
  const rows = [...read('docs/docker.md').matchAll(/^\| (`[A-Z_]+`(?:, `[A-Z_]+`)*) \|/gm)]
  const named = rows.flatMap(([, names = '']) => names.replaceAll('`', '').split(', '))
  const expected = ['DRAIN_SECONDS', ...Object.keys(notPassed), ...Object.keys(fixed)]
  expect(named.toSorted()).toEqual(expected.toSorted())
})

test('a server that stops has the time it needs, and the workers can write what they need', () => {
  const drainSeconds = Number(/:-(\d+)\}$/.exec(String(server.environment['DRAIN_SECONDS']))?.[1])
  expect(Number.parseInt(server.stop_grace_period, 10)).toBeGreaterThan(drainSeconds + 5)
  const shared = ['uploads:/data/uploads', 'media:/data/stations', '/tmp']
  expect(server.volumes).toEqual(expect.arrayContaining(shared))
  expect(workers.volumes).toEqual(expect.arrayContaining(shared))
})
