/** How a service is started. */
export interface ServiceOptions {
  /** A free one unless given. */
  readonly port?: number | undefined
  /** Ends it when aborted, also in the middle of its start, which then rejects. */
  readonly signal?: AbortSignal | undefined
}

/** A Postgres or Redis that this process started and that ends with it, however this process ends. */
export interface EmbeddedService extends AsyncDisposable {
  /** Everything a client needs, password included: never log it. */
  readonly url: string
  /** On 127.0.0.1. */
  readonly port: number
  /** Of the service itself, not of the guard around it. */
  readonly pid: number
  /** Resolves when the service ended, asked or unasked. Never rejects. */
  readonly exited: Promise<void>
  /** The last lines the service wrote, for the log after an unasked end. */
  readonly lastOutput: () => string
  /** Ends the service in good order; after 5 seconds by force. Safe to call twice and after it ended. */
  readonly stop: () => Promise<void>
}
