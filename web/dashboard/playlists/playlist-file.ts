import * as v from 'valibot'

import { callApi } from '../api/call-api.ts'

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
  const { message, import_results: results } = await callApi(importSchema, `${playlistPath}/import`, {
    method: 'POST',
    // Its bytes: the server knows more encodings than `text()`.
    body: new Blob([file], { type: 'text/plain' }),
    timeoutMs
  })
  return { message, unmatched: results.filter(({ match }) => match === null).map(({ path }) => path) }
}
