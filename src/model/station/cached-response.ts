/** Identifies the state that a document shows. */
export interface StatePosition {
  readonly epoch: string
  readonly offset: number
}

/** A rendered document, ready to be sent. The same object always has the same bytes. */
export interface CachedResponse {
  readonly body: Uint8Array
  /** A weak entity tag, the same on every server; empty if the body never repeats. */
  readonly etag: string
  /** Null for documents of several stations. */
  readonly position: StatePosition | null
  /** The body in content codings, if encoded in advance; then no others are used. */
  readonly prepared?: { readonly br?: Uint8Array; readonly gzip?: Uint8Array }
}
