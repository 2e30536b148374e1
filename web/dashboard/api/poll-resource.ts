import type { ReactiveControllerHost } from 'lit'
import type * as v from 'valibot'

import { asRefusal, type Refusal } from './api-error.ts'
import { callApi } from './call-api.ts'
import { onServerChange } from './server-change.ts'

export interface ReadingOptions<Schema extends v.GenericSchema> {
  readonly schema: Schema
  /**
   * What to read, `api/stats`; null: nothing now. Asked anew at every drawing. Where only the query becomes
   * another one, what is known stays until the answer is there.
   */
  readonly path: () => string | null
  /** How long it is believed in, while the page is looked at. */
  readonly everyMs: number
  /** It is read soon after this became another one. Asked anew at every drawing. */
  readonly occasion?: () => unknown
  /** What is known before it is read for the first time. */
  readonly known?: v.InferOutput<Schema> | null
  /** How long an answer is waited for. */
  readonly timeoutMs?: number
}

/** Something of the API, as an element sees it. */
export interface Reading<Value> {
  /** What was read last; null before the first time. */
  readonly value: Value | null
  /** When that was, by `Date.now()`. */
  readonly readAtMs: number
  /** Why the last attempt came to nothing; null after one that did not. */
  readonly trouble: Refusal | null
  /** Reads it now. Never rejects. */
  readonly again: () => Promise<void>
}

/** Several things that happen at once are one occasion. */
const soonMs = 250
/** What follows of an occasion may take a moment: it is read once more. */
const laterMs = 2_000
/** What could not be read is tried again after about this long, if not sooner. */
const againMs = 8_000
/** What is older is read at once when the page is looked at again. */
const freshMs = 2_000

/**
 * Reads something of the API for an element: while it is in a page, every so often while somebody looks, and
 * when there is an occasion. The element is drawn again after each attempt. What was read stays while there
 * is trouble.
 */
export function readFor<Schema extends v.GenericSchema>(
  host: ReactiveControllerHost,
  options: ReadingOptions<Schema>
): Reading<v.InferOutput<Schema>> {
  let path: string | null = null
  let occasion: unknown
  let value: v.InferOutput<Schema> | null = options.known ?? null
  let readAtMs = value === null ? 0 : Date.now()
  let trouble: Refusal | null = null
  let aborter = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  let stopHearing = nothing
  let hasMore = false
  /** Its time came while nobody looked. */
  let isDue = false

  const patience = options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }

  async function read(): Promise<void> {
    stop()
    isDue = false
    if (path === null) return
    aborter = new AbortController()
    const { signal } = aborter
    try {
      const answer = await callApi(options.schema, path, { signal, ...patience })
      if (signal.aborted) return
      value = answer
      readAtMs = Date.now()
      trouble = null
    } catch (error) {
      if (signal.aborted) return
      trouble = asRefusal(error)
    }
    // What a key may not see it will not see in a minute.
    if (trouble?.status !== 403) plan(nextMs())
    hasMore = false
    host.requestUpdate()
  }

  function nextMs(): number {
    const plannedMs = hasMore ? laterMs : options.everyMs
    return trouble === null ? plannedMs : Math.min(plannedMs, againMs * (0.75 + Math.random() / 2))
  }

  function plan(afterMs: number): void {
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (document.hidden) isDue = true
      else void read()
    }, afterMs)
  }

  function stop(): void {
    clearTimeout(timer)
    aborter.abort()
  }

  function look(): void {
    if (!document.hidden && (isDue || Date.now() - readAtMs > freshMs)) readUnlessRefused()
  }

  /** Nobody has to wait for an answer that does not come. */
  function turn(isThere: boolean): void {
    if (isThere) return readUnlessRefused()
    if (path === null || trouble?.status === 403) return
    trouble = asRefusal(null)
    host.requestUpdate()
  }

  function readUnlessRefused(): void {
    if (trouble?.status !== 403) void read()
  }

  function turnTo(next: string | null): void {
    // What was known without a path is of the first one.
    if (path !== null && next?.split('?')[0] !== path.split('?')[0]) value = null
    path = next
    trouble = null
    occasion = options.occasion?.()
    void read()
  }

  host.addController({
    hostConnected: () => {
      document.addEventListener('visibilitychange', look)
      stopHearing = onServerChange(turn)
      if (path !== null) void read()
    },
    hostDisconnected: () => {
      document.removeEventListener('visibilitychange', look)
      stopHearing()
      stop()
    },
    hostUpdate: () => {
      const next = options.path()
      if (next !== path) return turnTo(next)
      const now = options.occasion?.()
      if (now === occasion) return
      occasion = now
      if (trouble?.status === 403) return
      hasMore = true
      plan(soonMs)
    }
  })
  return {
    get value() {
      return value
    },
    get readAtMs() {
      return readAtMs
    },
    get trouble() {
      return trouble
    },
    again: read
  }
}

const nothing = () => {}
