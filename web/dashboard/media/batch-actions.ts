import * as v from 'valibot'

import { ApiError } from '../api/api-error.ts'
import { callApi } from '../api/call-api.ts'
import { formatCount, formatNumber } from '../ui/text.ts'
import { splitBatch } from './batch-requests.ts'

/** An action on many files and folders. */
export type BatchAction =
  | { readonly do: 'delete' | 'queue' | 'immediate' | 'reprocess' }
  | { readonly do: 'add'; readonly playlists: readonly number[] }
  | { readonly do: 'move'; readonly directory: string }

const resultSchema = v.object({
  files: v.optional(v.array(v.string()), []),
  directories: v.optional(v.array(v.string()), []),
  errors: v.optional(v.array(v.string()), [])
})

const timeoutMs = 120_000
const errorsShown = 3

interface BatchOptions {
  /** The path of the station in the API. */
  readonly path: string
  readonly folder: string
  readonly keys: ReadonlySet<string>
  readonly onProgress: (done: number) => void
}

/**
 * Runs an action on a selection, in several requests if it is large. Returns a message for the operator. Throws
 * an `ApiError` with the first errors if some files failed.
 */
export async function runBatch(
  action: BatchAction,
  { path, folder, keys, onProgress }: BatchOptions
): Promise<string> {
  const errors: string[] = []
  let done = 0
  for (const request of splitBatch(keys)) {
    const body = { ...action, currentDirectory: folder, ...request }
    const result = await callApi(resultSchema, `${path}/files/batch`, { method: 'PUT', body, timeoutMs })
    errors.push(...result.errors)
    done += request.files.length + request.dirs.length
    onProgress(done)
  }
  if (errors.length === 0) return `${formatCount(keys.size, 'item')} ${resultTexts[action.do]}.`
  const more = errors.length > errorsShown ? ` And ${errors.length - errorsShown} more errors.` : ''
  throw new ApiError(`${errors.slice(0, errorsShown).join(' ')}${more}`, 400)
}

const resultTexts: Readonly<Record<BatchAction['do'], string>> = {
  delete: 'deleted',
  move: 'moved',
  add: 'added to the playlists',
  queue: 'added to the queue',
  immediate: 'queued to play next',
  reprocess: 'read again'
}

/** `1,200 of 5,000` */
export const describeProgress = (done: number, total: number): string =>
  done === 0 || done === total ? '' : `${formatNumber(done)} of ${formatNumber(total)}`
