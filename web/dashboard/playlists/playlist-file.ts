import { callApi } from '../api/call-api.ts'
import type { StationPath } from '../api/typed-response.ts'

export interface PlaylistImportResult {
  readonly message: string
  /** The entries without a song in the library. */
  readonly unmatched: readonly string[]
}

const timeoutMs = 60_000

/** Appends the songs of an M3U or PLS file to a playlist. */
export async function importPlaylistFile(
  playlistPath: `${StationPath}/playlist/${number}`,
  file: File
): Promise<PlaylistImportResult> {
  const { message, import_results: results } = await callApi('POST', `${playlistPath}/import`, {
    // Its bytes: the server knows more encodings than `text()`.
    body: new Blob([file], { type: 'text/plain' }),
    timeoutMs
  })
  return { message, unmatched: results.filter(({ match }) => match === null).map(({ path }) => path) }
}
