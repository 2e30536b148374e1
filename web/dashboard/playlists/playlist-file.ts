import * as v from 'valibot'

import { ApiError } from '../api/api-error.ts'
import { callApi, currentKey, serverBaseUrl } from '../api/call-api.ts'

const importSchema = v.object({
  message: v.string(),
  import_results: v.array(v.object({ path: v.string(), match: v.nullable(v.number()) }))
})

export interface ImportResult {
  readonly message: string
  /** The entries without a song in the library. */
  readonly unmatched: readonly string[]
}

const timeoutMs = 60_000

/** Appends the songs of an M3U or PLS file to a playlist. */
export async function importFile(playlistPath: string, file: File): Promise<ImportResult> {
  const body = await file.text()
  const { message, import_results: results } = await callApi(importSchema, `${playlistPath}/import`, {
    method: 'POST',
    body,
    timeoutMs
  })
  return { message, unmatched: results.filter(({ match }) => match === null).map(({ path }) => path) }
}

/** Downloads a playlist as a file. The key is sent as a header, so it is not part of a URL. */
export async function downloadPlaylist(
  playlistPath: string,
  name: string,
  format: 'm3u' | 'pls'
): Promise<void> {
  const response = await fetch(new URL(`${playlistPath}/export/${format}`, serverBaseUrl), {
    headers: { 'X-API-Key': currentKey() },
    signal: AbortSignal.timeout(timeoutMs),
    credentials: 'omit',
    referrerPolicy: 'no-referrer'
  })
  if (!response.ok) throw new ApiError(`The server returned an error (${response.status}).`, response.status)
  const link = document.createElement('a')
  link.href = URL.createObjectURL(await response.blob())
  link.download = `${name}.${format}`
  link.click()
  URL.revokeObjectURL(link.href)
}
