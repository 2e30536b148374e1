import { ApiRequestError } from '../api/api-error.ts'
import { callApi } from '../api/call-api.ts'
import type { StationPath } from '../api/typed-response.ts'
import { formatCount, formatNumber } from '../ui/text.ts'
import { splitBatchPaths } from './batch-requests.ts'

/** An action on many files and folders. */
export type BatchAction =
  | { readonly do: 'delete' | 'queue' | 'immediate' | 'reprocess' }
  | { readonly do: 'add'; readonly playlists: readonly number[] }
  | { readonly do: 'move'; readonly directory: string }

const timeoutMs = 120_000
/** Songs of a folder per request. */
const songsPerPart = 500
/** A queue is shorter than a folder may be. */
const wholeActions: ReadonlySet<BatchAction['do']> = new Set(['queue', 'immediate'])
const errorsShown = 3

interface BatchOptions {
  /** The path of the station in the API. */
  readonly path: StationPath
  readonly folder: string
  readonly keys: ReadonlySet<string>
  /** Called with the items that are done, and the songs of them and of the folder in progress. */
  readonly onProgress: (done: number, songs: number) => void
}

/**
 * Runs an action on a selection, in several requests if it is large. Returns a message for the operator. Throws
 * an `ApiRequestError` with the first errors if some files failed.
 */
export async function runBatchAction(
  action: BatchAction,
  { path, folder, keys, onProgress }: BatchOptions
): Promise<string> {
  const errors: string[] = []
  let done = 0
  let songs = 0
  for (const request of splitBatchPaths(keys)) {
    const isInParts = request.dirs.length > 0 && !wholeActions.has(action.do)
    let after: string | null = isInParts ? '' : null
    do {
      const part = after === null ? {} : { after, limit: songsPerPart }
      const body = { ...action, currentDirectory: folder, ...request, ...part }
      const result = await callApi('PUT', `${path}/files/batch`, { body, timeoutMs })
      errors.push(...result.errors)
      songs += result.files.length
      after = result.next ?? null
      if (after !== null) onProgress(done, songs)
    } while (after !== null)
    done += request.files.length + request.dirs.length
    onProgress(done, songs)
  }
  if (errors.length === 0) return `${formatCount(keys.size, 'item')} ${resultTexts[action.do]}.`
  const more = errors.length > errorsShown ? ` And ${errors.length - errorsShown} more errors.` : ''
  throw new ApiRequestError(`${errors.slice(0, errorsShown).join(' ')}${more}`, 400)
}

const resultTexts: Readonly<Record<BatchAction['do'], string>> = {
  delete: 'deleted',
  move: 'moved',
  add: 'added to the playlists',
  queue: 'added to the queue',
  immediate: 'queued to play next',
  reprocess: 'read again'
}

/** `1,200 of 5,000`; for a single folder, `1,200 songs`. */
export function describeBatchProgress(done: number, total: number, songs: number): string {
  if (done === total) return ''
  if (total === 1) return songs === 0 ? '' : formatCount(songs, 'song')
  return done === 0 ? '' : `${formatNumber(done)} of ${formatNumber(total)}`
}
