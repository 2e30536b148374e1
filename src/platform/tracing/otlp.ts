import { randomUUID } from 'node:crypto'

import {
  type Context,
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import * as v from 'valibot'

import { fullVersion } from '../process/program-files.ts'
import { withDeadline } from '../runtime/deadline.ts'
import type { Logger } from '../runtime/log.ts'
import { describeError } from '../runtime/store-errors.ts'
import type { SpanExporter, Traceparent } from './spans.ts'

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT } as const

/**
 * Opens an exporter to the collector at `OTEL_EXPORTER_OTLP_ENDPOINT`. The libraries read this and the other variables
 * of OpenTelemetry, such as `OTEL_EXPORTER_OTLP_HEADERS` and `OTEL_TRACES_SAMPLER`.
 */
export function openOtlpExporter(kind: string, log: Logger): SpanExporter {
  const report = reportFailures(log)
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      'service.name': process.env['OTEL_SERVICE_NAME'] ?? 'cuewire',
      'service.version': fullVersion,
      'service.instance.id': randomUUID(),
      'cuewire.process': kind
    }),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())]
  })
  const tracer = provider.getTracer('cuewire', fullVersion)
  return {
    start: (name, { kind: spanKind, attributes = {}, parent }) => {
      const options = { kind: spanKind ? kinds[spanKind] : SpanKind.INTERNAL, attributes }
      const span = tracer.startSpan(name, options, contextOf(parent))
      const { traceId, spanId, traceFlags } = span.spanContext()
      return {
        traceparent: `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`,
        set: added => void span.setAttributes(added),
        end: error => {
          if (error !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: describeError(error) })
          span.end()
        }
      }
    },
    close: () =>
      withDeadline(closeMs, 'exporting the last traces', () => provider.shutdown()).catch((error: unknown) =>
        report(describeError(error))
      )
  }
}

function contextOf(parent: Traceparent | null): Context {
  const [, traceId, spanId, flags] =
    /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})/.exec(parent ?? '') ?? []
  if (traceId === undefined || spanId === undefined) return ROOT_CONTEXT
  const traceFlags = Number.parseInt(flags ?? '0', 16)
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true })
}

const ignore = () => {}

/** Shorter than the time for closing something when a process stops. */
const closeMs = 1_500

/** A collector that is down fails every few seconds. */
const reportEveryMs = 60_000

/** Reports failures of the libraries. Returns what reports others. */
function reportFailures(log: Logger): (reason: string) => void {
  let reportedAtMs = -Infinity
  const report = (reason: string) => {
    if (performance.now() - reportedAtMs < reportEveryMs) return
    reportedAtMs = performance.now()
    log.warn({ reason: reason.slice(0, 300) }, 'traces not exported')
  }
  const error = (reported: string) => report(messageOf(reported))
  diag.setLogger({ error, warn: ignore, info: ignore, debug: ignore, verbose: ignore }, DiagLogLevel.ERROR)
  return report
}

const text = v.optional(v.string(), '')
const flattenedError = v.pipe(v.string(), v.parseJson(), v.object({ message: text, code: text, name: text }))

/** The libraries report an error as JSON, with its stack. Returns its message; other texts as they are. */
function messageOf(reported: string): string {
  const { success, output } = v.safeParse(flattenedError, reported)
  if (!success) return reported
  return output.message || output.code || output.name || reported
}
