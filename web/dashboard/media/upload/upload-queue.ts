import { UploadError } from './tus-upload.ts'

/** A file to upload, and its path below the media folder. */
export interface PickedFile {
  readonly file: File
  readonly path: string
  /** Whether it may replace the file of a song. */
  readonly mayReplace?: boolean
}

export type UploadState = 'waiting' | 'uploading' | 'paused' | 'retrying' | 'done' | 'failed'

export interface UploadItem extends PickedFile {
  readonly id: number
  readonly state: UploadState
  readonly sentBytes: number
  /** Why it failed, or is tried again; '' otherwise. */
  readonly message: string
  /** Failed attempts in a row. */
  readonly failures: number
  /** Whether it failed because a song has the path. */
  readonly isTaken: boolean
  /** Whether it failed for a reason that may have passed, unlike a wrong type or size. */
  readonly canRetry: boolean
}

interface UploadQueueOptions {
  /** Uploads a file. Returns what the server says about it; empty if nothing. Rejects with an `UploadError`. */
  readonly upload: (
    picked: PickedFile,
    onProgress: (sentBytes: number) => void,
    signal: AbortSignal
  ) => Promise<string>
  /** Removes what the server received of a file. */
  readonly discard: (picked: PickedFile) => Promise<void>
  readonly onChange: () => void
  /** Calls back after a delay in milliseconds. */
  readonly delay?: (ms: number, callback: () => void) => void
}

export type UploadQueue = ReturnType<typeof openUploadQueue>

const concurrency = 3
const maxFailures = 8
const firstRetryMs = 1_000
const maxRetryMs = 30_000

/** States of files that are not finished. */
const openStates: ReadonlySet<UploadState> = new Set<UploadState>([
  'waiting',
  'uploading',
  'paused',
  'retrying'
])

/** A queue of uploads, three at a time. Files that fail temporarily are tried again, later each time. */
export function openUploadQueue({ upload, discard, onChange, delay = callLater }: UploadQueueOptions) {
  let items: readonly UploadItem[] = []
  let lastId = 0
  const inFlight = new Map<number, AbortController>()
  /** Attempts that have not ended. One that was aborted ends once the server has responded. */
  const attempts = new Map<number, Promise<void>>()

  const find = (id: number) => items.find(item => item.id === id)

  function update(id: number, changes: Partial<UploadItem>): void {
    items = items.map(item => (item.id === id ? { ...item, ...changes } : item))
    onChange()
  }

  function startNext(): void {
    for (const item of items) {
      if (inFlight.size >= concurrency) return
      if (item.state === 'waiting') void run(item)
    }
  }

  async function run({ id, file, path, failures, mayReplace = false }: UploadItem): Promise<void> {
    const aborter = new AbortController()
    inFlight.set(id, aborter)
    update(id, { state: 'uploading', message: '', isTaken: false, canRetry: false })
    const onProgress = (sentBytes: number) => {
      if (!aborter.signal.aborted) update(id, { sentBytes, failures: 0 })
    }
    const start = () => upload({ file, path, mayReplace }, onProgress, aborter.signal)
    const attempt = attempts.get(id)?.then(start) ?? start()
    const ended = attempt.then(
      () => {},
      () => {}
    )
    attempts.set(id, ended)
    try {
      const message = await attempt
      if (!aborter.signal.aborted) update(id, { state: 'done', sentBytes: file.size, message })
    } catch (error) {
      if (!aborter.signal.aborted) fail(id, error, (find(id)?.failures ?? failures) + 1)
    }
    if (attempts.get(id) === ended) attempts.delete(id)
    if (inFlight.get(id) === aborter) inFlight.delete(id)
    startNext()
  }

  function fail(id: number, error: unknown, failures: number): void {
    const message = error instanceof Error ? error.message : String(error)
    const { isTemporary, isTaken, canRetry } = error instanceof UploadError ? error : new UploadError(message)
    if (!isTemporary || failures > maxFailures) {
      update(id, { state: 'failed', message, failures, isTaken, canRetry })
      return
    }
    update(id, { state: 'retrying', message, failures })
    const delayMs = Math.min(maxRetryMs, firstRetryMs * 2 ** (failures - 1)) * (0.75 + Math.random() / 2)
    delay(delayMs, () => {
      if (find(id)?.state === 'retrying') wait(id)
    })
  }

  function wait(id: number): void {
    update(id, { state: 'waiting' })
    startNext()
  }

  function stop(id: number): void {
    inFlight.get(id)?.abort()
    inFlight.delete(id)
  }

  const queue = {
    get items() {
      return items
    },
    get isActive() {
      return items.some(({ state }) => openStates.has(state))
    },
    /** Adds files, unless the same path is in the queue and not finished. Returns those that were not added. */
    add(picked: readonly PickedFile[]): PickedFile[] {
      const known = new Set(items.filter(({ state }) => openStates.has(state)).map(({ path }) => path))
      const repeated = picked.filter(({ path }) => known.has(path))
      const added = picked.filter(({ path }) => !known.has(path))
      const fresh = added.map(({ file, path }): UploadItem => {
        lastId += 1
        return { id: lastId, file, path, ...firstState }
      })
      items = [...items, ...fresh]
      onChange()
      startNext()
      return repeated
    },
    pause(id: number): void {
      const state = find(id)?.state
      if (state === undefined || !openStates.has(state)) return
      stop(id)
      update(id, { state: 'paused', message: '' })
      startNext()
    },
    /** Continues a file that is paused or waits for its next attempt, or failed and may succeed now. */
    resume(id: number): void {
      const item = find(id)
      if (item === undefined || !mayResume(item)) return
      update(id, { message: '', failures: 0 })
      wait(id)
    },
    /** Uploads a file whose path is taken in place of the other one. */
    replace(id: number): void {
      if (find(id)?.isTaken !== true) return
      update(id, { message: '', failures: 0, isTaken: false, mayReplace: true })
      wait(id)
    },
    /** Pauses all at once: one after the other, each would start the next. */
    pauseAll: (): void => {
      for (const id of inFlight.keys()) stop(id)
      items = items.map(item =>
        openStates.has(item.state) ? { ...item, state: 'paused', message: '' } : item
      )
      onChange()
    },
    resumeAll: () => forEach(id => queue.resume(id)),
    /** Removes a file from the queue, and what the server received of it. */
    async cancel(id: number): Promise<void> {
      const item = find(id)
      if (item === undefined) return
      stop(id)
      items = items.filter(each => each.id !== id)
      onChange()
      startNext()
      await attempts.get(id)
      if (item.state !== 'done') await discard(item)
    },
    /** Removes finished files from the queue. */
    clearDone(): void {
      items = items.filter(({ state }) => state !== 'done')
      onChange()
    }
  }

  function forEach(action: (id: number) => void): void {
    for (const { id } of items) action(id)
  }

  return queue
}

const callLater = (ms: number, callback: () => void) => void setTimeout(callback, ms)

const firstState = {
  state: 'waiting',
  sentBytes: 0,
  message: '',
  failures: 0,
  isTaken: false,
  canRetry: false
} as const

/** Whether an upload that does not run may be continued or tried again. */
export const mayResume = ({ state, canRetry }: UploadItem): boolean =>
  state === 'paused' || state === 'retrying' || (state === 'failed' && canRetry)

/** Totals of a queue, for its overall progress. Bytes of files that failed do not count as sent. */
export function summarizeUploads(items: readonly UploadItem[]) {
  const count = (...states: UploadState[]) => items.filter(({ state }) => states.includes(state)).length
  return {
    total: items.length,
    done: count('done'),
    failed: count('failed'),
    paused: count('paused'),
    resumable: items.filter(item => item.state !== 'retrying' && mayResume(item)).length,
    open: count('waiting', 'uploading', 'retrying'),
    bytes: items.reduce((sum, { file }) => sum + file.size, 0),
    sentBytes: items.reduce((sum, { state, sentBytes }) => sum + (state === 'failed' ? 0 : sentBytes), 0)
  }
}
