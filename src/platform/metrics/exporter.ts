import { createServer, type ServerResponse } from 'node:http'

import { isSupervised } from '../process/children.ts'
import { assertPortIsFree } from '../process/ports.ts'
import { openSingleFlight } from '../runtime/coalesce.ts'
import { withDeadline } from '../runtime/deadline.ts'
import type { Logger } from '../runtime/log.ts'
import { answerMetricsParent } from './child-metrics.ts'
import { registerProcessMetrics } from './process.ts'
import { metricsRegistry } from './registry.ts'

interface ExporterConfig {
  /** Undefined: nothing is exported. */
  readonly METRICS_PORT?: number | undefined
  readonly METRICS_HOST: string
}

/** Closes what was opened. */
type Close = () => Promise<void>

/**
 * Exports the metrics of this process if `METRICS_PORT` is set: to its supervisor, or at
 * `http://METRICS_HOST:METRICS_PORT/metrics`. `kind` is the value of the label `process`. Throws an
 * `OperatorError` if the port is in use.
 */
export async function exportMetrics(kind: string, config: ExporterConfig, log: Logger): Promise<Close> {
  if (config.METRICS_PORT === undefined) return async () => {}
  registerProcessMetrics(kind)
  if (isSupervised()) return answerMetricsParent(metricsRegistry)
  return serveMetrics(() => metricsRegistry.metrics(), config, log)
}

const collectTimeoutMs = 5_000
/** Scrapers are few. */
const maxConnections = 32

/**
 * Serves what `collect` returns at `/metrics`. Concurrent requests share one collection. Does nothing if
 * `METRICS_PORT` is not set.
 */
export async function serveMetrics(
  collect: () => Promise<string>,
  { METRICS_PORT: port, METRICS_HOST: host }: ExporterConfig,
  log: Logger
): Promise<Close> {
  if (port === undefined) return async () => {}
  const collectOnce = openSingleFlight<string>()

  async function respond(res: ServerResponse): Promise<void> {
    try {
      const text = await collectOnce(() => withDeadline(collectTimeoutMs, 'collecting metrics', collect))
      res.writeHead(200, { 'Content-Type': metricsRegistry.contentType }).end(text)
    } catch (error) {
      log.warn({ err: error }, 'metrics not collected')
      res.writeHead(503, { 'Content-Type': 'text/plain' }).end('The metrics could not be collected.\n')
    }
  }

  await assertPortIsFree(host, port, { name: 'METRICS_PORT', timeoutMs: 2_000 })
  const server = createServer({ requestTimeout: 10_000 }, (req, res) => {
    const [path] = (req.url ?? '').split('?')
    if (path !== '/metrics')
      res.writeHead(404, { 'Content-Type': 'text/plain' }).end('The metrics are at /metrics.\n')
    else if (req.method !== 'GET' && req.method !== 'HEAD')
      res.writeHead(405, { Allow: 'GET, HEAD', 'Content-Type': 'text/plain' }).end('Only GET is allowed.\n')
    else void respond(res)
  })
  server.maxConnections = maxConnections
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, exclusive: true }, resolve)
  })
  server.on('error', error => log.warn({ err: error }, 'metrics server'))
  return async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
}
