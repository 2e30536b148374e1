import { expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import { seedHook } from '../support/hooks.ts'
import { adminKey, startProgram } from '../support/program.ts'
import { seedStation } from '../support/stations.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { isDeep } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'
import { startWebServer, type WebServer } from '../support/web-server.ts'

/** A span as OTLP/JSON encodes it. */
interface ExportedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly status: { readonly code?: number }
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[]
}

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly ExportedSpan[] }[]
  }[]
}

/** The spans that a collector received. */
function spansOf({ asked }: WebServer): ExportedSpan[] {
  return asked
    .filter(({ path }) => path === '/v1/traces')
    .flatMap(({ body }) => {
      const { resourceSpans }: ExportRequest = JSON.parse(body)
      return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
    })
}

const within = { deadlineMs: 30_000 }
const skip = 'POST /api/station/:station_id/backend/skip'

test.runIf(isDeep)(
  'the trace of a skip leads from the request over commit and publication to the receiver of the web hook',
  { timeout: 120_000 },
  async ({ databaseUrl, redisUrl }) => {
    await using folder = await openTempFolder()
    await using collector = await startWebServer()
    collector.respondWith('{}')
    await using receiver = await startWebServer()
    const variables = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '200',
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8'
    }
    await using program = await startProgram(databaseUrl, redisUrl, folder.path, variables, variables)
    const stationId = await seedStation(program.sql, { songMs: 600_000 })
    await seedHook(program.sql, stationId, {
      triggers: ['song_changed'],
      config: { webhook_url: receiver.url }
    })
    const isOnline = async () =>
      (await program.ask('GET', `/api/nowplaying/${stationId}`)).body.is_online === true
    await waitFor(isOnline, { ...within, what: 'the first song' })

    const client = { traceId: 'c'.repeat(32), spanId: 'd'.repeat(16) }
    const response = await fetch(`${program.baseUrl}/api/station/${stationId}/backend/skip`, {
      method: 'POST',
      headers: { 'X-API-Key': adminKey, traceparent: `00-${client.traceId}-${client.spanId}-01` }
    })
    expect(response.status).toBe(200)
    const trace = await waitFor(
      () => {
        const spans = spansOf(collector).filter(({ traceId }) => traceId === client.traceId)
        // The server and the workers export on their own.
        const names = spans.map(({ name }) => name)
        return [skip, 'commit', 'publish', 'deliver web hook'].every(name => names.includes(name)) && spans
      },
      { ...within, what: 'the spans of the request and of the delivery' }
    )
    const byName = (name: string) => trace.find(span => span.name === name)
    const request = byName(skip)
    expect(request?.parentSpanId).toBe(client.spanId)
    expect(request?.attributes).toContainEqual({ key: 'http.response.status_code', value: { intValue: 200 } })
    const commit = byName('commit')
    expect(commit?.parentSpanId).toBe(request?.spanId)
    expect(byName('publish')?.parentSpanId).toBe(request?.spanId)
    const delivery = byName('deliver web hook')
    expect(delivery?.parentSpanId).toBe(commit?.spanId)
    expect(delivery?.attributes).toContainEqual({
      key: 'cuewire.webhook.outcome',
      value: { stringValue: 'delivered' }
    })
    const received = receiver.asked.map(({ headers }) => headers['traceparent'])
    expect(received).toContain(`00-${client.traceId}-${delivery?.spanId}-01`)

    // A short song, whose end begins a trace of its own.
    const otherId = await seedStation(program.sql, { songMs: 1_500 })
    const ended = await waitFor(
      () => {
        const spans = spansOf(collector)
        const root = spans.find(({ name }) => name === 'end songs')
        const children = spans.filter(({ parentSpanId }) => root && parentSpanId === root.spanId)
        return children.length >= 2 && { root, children }
      },
      { ...within, what: `the trace of a song of station ${otherId}` }
    )
    expect(ended.root?.parentSpanId ?? '').toBe('')
    expect(ended.children.map(({ name }) => name).toSorted()).toEqual(['commit', 'publish'])
    expect(spansOf(collector).filter(({ name }) => name.startsWith('GET '))).toEqual([])
  }
)
