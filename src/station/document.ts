/** Which state of its station a document shows. */
export interface Position {
  readonly epoch: string
  readonly offset: number
}

/** A rendered document, ready to be sent. The same object stands for the same bytes. */
export interface CachedResponse {
  readonly body: Uint8Array
  /** A weak entity tag, the same on every server; empty if a later response cannot have the same body. */
  readonly etag: string
  /** What it shows; null for documents of more than one station. */
  readonly position: Position | null
  /** The body in content codings, if it was encoded before; then it is sent in no others. */
  readonly prepared?: { readonly br?: Uint8Array; readonly gzip?: Uint8Array }
}
