import type { ReactiveControllerHost } from 'lit'

import { type ApiRequestError, toApiRequestError } from '../api/api-error.ts'
import { listPagesOfRange, type RowRange } from './row-window.ts'

/** One page of a long list, and the length of the list. */
export interface RowPage<Row> {
  readonly total: number
  readonly rows: readonly Row[]
}

interface RowPagesOptions<Row> {
  readonly pageSize: number
  /** Loads a page; numbers start at 0. */
  readonly load: (page: number, signal: AbortSignal) => Promise<RowPage<Row>>
}

/** Pages in memory; the ones that were shown first are dropped. */
const maxPages = 60
/** Pages that are scrolled past in less time are not loaded. */
const debounceMs = 60
const retryMs = 3_000

/** The rows of a long list, loaded in pages when they are shown. */
export function openRowPages<Row>(host: ReactiveControllerHost, { pageSize, load }: RowPagesOptions<Row>) {
  let pages = new Map<number, readonly Row[]>()
  const inFlight = new Map<number, AbortController>()
  let stale = new Set<number>()
  let wanted: readonly number[] = [0]
  let total: number | null = null
  let all: readonly Row[] | null = null
  let error: ApiRequestError | null = null
  let timer: ReturnType<typeof setTimeout> | undefined

  async function loadPage(page: number): Promise<void> {
    const aborter = new AbortController()
    inFlight.set(page, aborter)
    try {
      const loaded = await load(page, aborter.signal)
      if (aborter.signal.aborted) return
      total = loaded.total
      error = null
      stale.delete(page)
      pages.delete(page)
      pages.set(page, loaded.rows)
      all = null
      for (const oldest of pages.keys()) if (pages.size > maxPages) pages.delete(oldest)
    } catch (thrown) {
      if (aborter.signal.aborted) return
      error = toApiRequestError(thrown)
      schedule(retryMs)
    } finally {
      if (inFlight.get(page) === aborter) inFlight.delete(page)
    }
    host.requestUpdate()
  }

  function loadRequested(): void {
    for (const [page, aborter] of inFlight)
      if (!wanted.includes(page)) {
        aborter.abort()
        inFlight.delete(page)
      }
    for (const page of wanted)
      if (!inFlight.has(page) && (!pages.has(page) || stale.has(page))) void loadPage(page)
  }

  function schedule(delayMs: number): void {
    clearTimeout(timer)
    timer = setTimeout(loadRequested, delayMs)
  }

  function stop(): void {
    clearTimeout(timer)
    for (const aborter of inFlight.values()) aborter.abort()
    inFlight.clear()
  }

  host.addController({ hostDisconnected: stop })
  return {
    /** Null before the first response. */
    get total() {
      return total
    },
    get error() {
      return error
    },
    get isLoading() {
      return inFlight.size > 0
    },
    /** All rows, the same array until a page is loaded; null unless the whole list is loaded and none is stale. */
    get all(): readonly Row[] | null {
      if (total === null || inFlight.size > 0 || stale.size > 0) return null
      all ??= Array.from(pages.values()).flat()
      return all.length === total ? all : null
    },
    /** The row with an index; undefined if it is not loaded. */
    get: (index: number): Row | undefined => pages.get(Math.floor(index / pageSize))?.[index % pageSize],
    /** Loads the rows of a range if they are missing. */
    show(range: RowRange): void {
      const next = listPagesOfRange(range, pageSize)
      if (next.length === 0 || next.join() === wanted.join()) return
      wanted = next
      schedule(debounceMs)
    },
    /** Loads the rows again. The old ones stay until then. */
    refresh(): void {
      for (const aborter of inFlight.values()) aborter.abort()
      inFlight.clear()
      stale = new Set(pages.keys())
      loadRequested()
    },
    /** Starts with another list: the requests for the old one are aborted. */
    restart(): void {
      stop()
      pages = new Map()
      wanted = [0]
      total = null
      all = null
      error = null
      loadRequested()
    }
  }
}
