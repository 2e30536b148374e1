import { once } from 'node:events'
import { createServer } from 'node:net'

import { diag } from '@opentelemetry/api'
import { pino } from 'pino'
import { expect, test, vi } from 'vitest'

import { openOtlpExporter } from '../../../../src/platform/tracing/otlp.ts'

function openLog() {
  const lines: unknown[] = []
  const options = { level: 'warn', base: null, timestamp: false }
  return { log: pino(options, { write: text => void lines.push(JSON.parse(text)) }), lines }
}
const lineOf = (reason: unknown) => ({ level: 40, reason, msg: 'traces not exported' })

test('of an error that the libraries report as JSON only the message is logged', async () => {
  for (const [reported, reason] of [
    [{ stack: 'Error: refused\n    at x', message: 'refused', name: 'Error' }, 'refused'],
    [{ stack: 'AggregateError\n    at x', code: 'ECONNREFUSED', name: 'AggregateError' }, 'ECONNREFUSED'],
    ['plain text', 'plain text']
  ] as const) {
    const { log, lines } = openLog()
    const exporter = openOtlpExporter('server', log)
    diag.error(typeof reported === 'string' ? reported : JSON.stringify(reported))
    expect(lines).toEqual([lineOf(reason)])
    await exporter.close()
  }
})

test('a collector that hangs at the end is one line without a stack', async () => {
  const collector = createServer(socket => void socket.on('error', () => {}).resume()).listen(0, '127.0.0.1')
  await once(collector, 'listening')
  const address = collector.address()
  vi.stubEnv(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  )
  try {
    const { log, lines } = openLog()
    const exporter = openOtlpExporter('server', log)
    exporter.start('work', { parent: null }).end(null)
    await exporter.close()
    expect(lines).toEqual([
      lineOf(expect.stringMatching(/^exporting the last traces took longer than \d+ ms$/))
    ])
  } finally {
    vi.unstubAllEnvs()
    collector.close()
  }
})
