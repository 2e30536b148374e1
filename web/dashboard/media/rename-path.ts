import { toApiRequestError } from '../api/api-error.ts'
import { callApi } from '../api/call-api.ts'
import type { StationPath } from '../api/typed-response.ts'

const timeoutMs = 120_000
/** Songs of a folder per request. */
const songsPerPart = 500

interface RenameOptions {
  /** The path of the station in the API. */
  readonly path: StationPath
  readonly file: string
  readonly newPath: string
  /** Asks whether the songs are moved into a folder that exists; it may be the rest of a move that was interrupted. */
  readonly confirmMerge: () => Promise<boolean>
  /** Called before each further part of a large folder. */
  readonly onPart: () => void
}

/**
 * Renames or moves a file, or a folder in as many requests as it takes. Returns false if the operator does not want to
 * move the songs into a folder that exists. Throws an `ApiRequestError`.
 */
export async function renamePath(options: RenameOptions): Promise<boolean> {
  const { path, file, newPath, confirmMerge, onPart } = options
  const send = async (after: string) => {
    const body = { file, newPath, after, limit: songsPerPart }
    const { next = null } = await callApi('PUT', `${path}/files/rename`, { body, timeoutMs })
    return next
  }
  let next: string | null
  try {
    next = await send('')
  } catch (thrown) {
    const { status, fieldErrors } = toApiRequestError(thrown)
    const isFolderTaken = status === 409 && fieldErrors.some(({ field }) => field === 'newPath')
    if (!isFolderTaken) throw thrown
    if (!(await confirmMerge())) return false
    // The path of the folder precedes those of its songs.
    next = await send(file)
  }
  while (next !== null) {
    onPart()
    next = await send(next)
  }
  return true
}
