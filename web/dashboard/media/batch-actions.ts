import * as v from 'valibot'

import { ApiError } from '../api/api-error.ts'
import { callApi } from '../api/call-api.ts'
import { formatCount, formatNumber } from '../ui/text.ts'
import { parseKeys } from './library.ts'

/** An action on many files and folders. */
export type BatchAction =
  | { readonly do: 'delete' | 'queue' | 'immediate' }
  | { readonly do: 'add'; readonly playlists: readonly number[] }
  | { readonly do: 'move'; readonly directory: string }

const resultSchema = v.object({
  files: v.optional(v.array(v.string()), []),
  directories: v.optional(v.array(v.string()), []),
  errors: v.optional(v.array(v.string()), [])
})

/** Files per request: each is a change of the station, and progress is shown after each request. */
const filesPerRequest = 100
/** A request of a folder changes all files in it. */
const foldersPerRequest = 1
const timeoutMs = 120_000
const errorsShown = 3

/** Splits the paths of a selection into requests. Folders come first: their files may be selected as well. */
export function splitBatch(keys: Iterable<string>): { files: string[]; dirs: string[] }[] {
  const { files, dirs } = parseKeys(keys)
  const requests: { files: string[]; dirs: string[] }[] = []
  for (let at = 0; at < dirs.length; at += foldersPerRequest)
    requests.push({ files: [], dirs: dirs.slice(at, at + foldersPerRequest) })
  for (let at = 0; at < files.length; at += filesPerRequest)
    requests.push({ files: files.slice(at, at + filesPerRequest), dirs: [] })
  return requests
}

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
  immediate: 'queued to play next'
}

/** What a deletion removes. */
export function describeDeletion(keys: ReadonlySet<string>): string {
  const { files, dirs } = parseKeys(keys)
  const parts = [
    ...(files.length > 0 ? [formatCount(files.length, 'file')] : []),
    ...(dirs.length > 0
      ? [`${formatCount(dirs.length, 'folder')} with everything in ${dirs.length === 1 ? 'it' : 'them'}`]
      : [])
  ]
  return `This deletes ${parts.join(' and ')} from the storage, from all playlists and from the queue. It cannot be undone.`
}

/** `1,200 of 5,000` */
export const describeProgress = (done: number, total: number): string =>
  done === 0 || done === total ? '' : `${formatNumber(done)} of ${formatNumber(total)}`
