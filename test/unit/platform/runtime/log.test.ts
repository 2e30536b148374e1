import { PassThrough } from 'node:stream'

import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { redirectConsoleToLog, openLog } from '../../../../src/platform/runtime/log.ts'

async function openLines(level = 'info') {
  const stream = new PassThrough()
  const { log, outages } = await openLog('server', level, stream)
  const texts: string[] = []
  stream.on('data', (chunk: Buffer) => texts.push(...chunk.toString().split('\n').filter(Boolean)))
  return { log, outages, texts }
}

/** The keys of a JSON object as they are written. */
function keysOf(text: string): string[] {
  const keys: string[] = []
  let depth = 0
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"\s*:?|[{}[\]]/g)) {
    if (token === '{' || token === '[') depth++
    else if (token === '}' || token === ']') depth--
    else if (depth === 1 && token.endsWith(':')) keys.push(JSON.parse(token.slice(0, -1)))
  }
  return keys
}

test('no key is twice in a line, whatever the details are called', async () => {
  const { log, texts } = await openLines()
  const key = fc.constantFrom('name', 'msg', 'time', 'level', 'pid', 'hostname', 'err', 'reason', 'station')
  fc.assert(
    fc.property(fc.dictionary(key, fc.oneof(fc.string(), fc.integer())), details => {
      log.info(details, 'backup written')
    }),
    { numRuns: 50 }
  )
  expect(texts).toHaveLength(50)
  for (const text of texts) expect(new Set(keysOf(text)).size).toBe(keysOf(text).length)
  log.info({ name: 'backup.tar.gz' }, 'backup written')
  expect(JSON.parse(texts.at(-1) ?? '')).toMatchObject({ name: 'server', name_: 'backup.tar.gz' })
})

test('what an outage explains is not logged, and everything else is', async () => {
  const { log, outages, texts } = await openLines()
  const lost = Object.assign(new Error('write CONNECTION_CLOSED 127.0.0.1:5432'), {
    code: 'CONNECTION_CLOSED'
  })
  // Nobody watches it yet.
  log.warn({ err: lost }, 'sweep failed')
  expect(texts).toHaveLength(1)
  outages.watch('postgres', () => Promise.reject(lost))
  for (let round = 0; round < 10; round++) log.warn({ err: lost }, 'sweep failed')
  log.error({ err: new Error('a bug') }, 'sweep failed')
  log.error(lost)
  expect(texts.slice(1).map(text => [JSON.parse(text).msg, JSON.parse(text).reason])).toEqual([
    ['postgres connection lost', lost.message],
    ['sweep failed', undefined]
  ])
})

test('what packages write to the console is in the log, each text once', async () => {
  const { log, texts } = await openLines()
  const kept = { ...console }
  try {
    redirectConsoleToLog(log)
    const { warn, error } = console
    warn('IMPORTANT! Eviction policy is %s.', 'allkeys-lru')
    warn('IMPORTANT! Eviction policy is %s.', 'allkeys-lru')
    error(new Error('unhandled'))
  } finally {
    Object.assign(console, kept)
  }
  expect(texts.map(text => JSON.parse(text).text)).toEqual([
    'IMPORTANT! Eviction policy is allkeys-lru.',
    expect.stringContaining('Error: unhandled')
  ])
})

test('an error of Redis is logged with the name of its command, and without arguments', async () => {
  const { log, texts } = await openLines()
  const failed = (command: unknown) => Object.assign(new Error('ERR a fault'), { command })
  const error = Object.assign(failed({ name: 'hello', args: ['3', 'AUTH', 'radio', 'a password'] }), {
    previousErrors: [failed({ name: 'auth', args: ['a password'] })]
  })
  log.warn({ err: error }, 'sweep failed')
  log.error(error)
  log.warn({ err: new AggregateError([error]) }, 'sweep failed')
  expect(texts.join()).not.toContain('a password')
  expect(texts.map(text => JSON.parse(text).err)).toMatchObject([
    { message: 'ERR a fault', command: 'hello' },
    { message: 'ERR a fault', command: 'hello' },
    { aggregateErrors: [{ command: 'hello' }] }
  ])
})
