/** Identifies a span in the format of W3C Trace Context: `00-<trace>-<span>-<flags>`. */
export type Traceparent = string

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

export interface SpanOptions {
  readonly kind?: 'server' | 'client'
  readonly attributes?: SpanAttributes
  /** The span that caused it; null: none. */
  readonly parent: Traceparent | null
}

/** A span that has begun. */
export interface OpenSpan {
  readonly traceparent: Traceparent
  readonly set: (attributes: SpanAttributes) => void
  /** `error`: why the work failed; null if it did not. */
  readonly end: (error: unknown) => void
}

/** Exports spans. */
export interface SpanExporter {
  readonly start: (name: string, options: SpanOptions) => OpenSpan
  /** Exports what is left. */
  readonly close: () => Promise<void>
}
