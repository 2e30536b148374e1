import { AsyncLocalStorage } from 'node:async_hooks'

import type { Logger } from '../runtime/log.ts'
import type { SpanAttributes, OpenSpan, SpanExporter, SpanOptions, Traceparent } from './spans.ts'

/*
 * Traces: which work followed from a request or the end of a song, over all processes. Off unless
 * `OTEL_EXPORTER_OTLP_ENDPOINT` is set; until then OpenTelemetry is not even loaded. Only writes and song changes are
 * traced, never GETs of now playing and deliveries to listeners.
 */

let exporter: SpanExporter | null = null
const current = new AsyncLocalStorage<OpenSpan>()

export const isTracing = (): boolean => exporter !== null

/** Returns the span that the caller works in; null without one. */
export const currentTraceparent = (): Traceparent | null => current.getStore()?.traceparent ?? null

interface TracingConfig {
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined
}

/** Begins to export spans if it is configured. `kind`: `server` or `workers`. Returns what ends it. */
export async function startTracing(
  kind: string,
  config: TracingConfig,
  log: Logger
): Promise<() => Promise<void>> {
  if (config.OTEL_EXPORTER_OTLP_ENDPOINT === undefined) return async () => {}
  const { openOtlpExporter } = await import('./otlp.ts')
  const opened = openOtlpExporter(kind, log)
  exporter = opened
  return async () => {
    exporter = null
    await opened.close()
  }
}

/** Runs work in a span, if spans are exported. */
export async function runInSpan<Result>(
  name: string,
  options: SpanOptions,
  work: (span: OpenSpan | null) => Promise<Result>
): Promise<Result> {
  if (exporter === null) return work(null)
  const span = exporter.start(name, options)
  try {
    const result = await current.run(span, () => work(span))
    span.end(null)
    return result
  } catch (error) {
    span.end(error)
    throw error
  }
}

/** Runs work in a span below that of the caller; without a span if the caller has none. */
export async function runInChildSpan<Result>(
  name: string,
  attributes: SpanAttributes,
  work: () => Promise<Result>
): Promise<Result> {
  const parent = currentTraceparent()
  return parent === null ? work() : runInSpan(name, { parent, attributes }, work)
}
