import { setTimeout as wait } from 'node:timers/promises'

import { withAbortTimeout } from '../../platform/runtime/deadline.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { describeError } from '../../platform/runtime/store-errors.ts'
import { scalarToText } from './source.ts'

const timeoutMs = 60_000
const attempts = 4
const retryMs = 1_000
export const apiPageRows = 500

/** A record of the API; its members are checked where they are used. */
export type AzuracastRecord = Readonly<Record<string, unknown>>

/** Sends GET requests to a running AzuraCast. Temporary failures are repeated; others throw an `OperatorError`. */
export function openAzuracastClient(url: string, key: string, signal: AbortSignal) {
  const base = url.replace(/\/+$/, '')

  async function get(path: string, query: Readonly<Record<string, string>> = {}): Promise<unknown> {
    const address = `${base}${path}?${new URLSearchParams(query).toString()}`
    for (let attempt = 1; ; attempt++) {
      const result = await withAbortTimeout(signal, timeoutMs, async limit => {
        const response = await fetch(address, {
          headers: { 'X-API-Key': key, Accept: 'application/json' },
          signal: limit
        })
        return { status: response.status, text: await response.text() }
      }).catch((error: unknown) => {
        signal.throwIfAborted()
        return {
          status: 0,
          text: describeError(error)
        }
      })
      if (result.status === 200) return JSON.parse(result.text)
      const isTemporary = result.status === 0 || result.status === 429 || result.status >= 500
      if (!isTemporary || attempt === attempts) {
        const reason = result.status === 0 ? result.text : `status ${result.status}`
        throw new OperatorError(`AzuraCast does not answer GET ${path}: ${reason}`)
      }
      await wait(retryMs * attempt, undefined, { signal })
    }
  }

  async function page(path: string, query: Readonly<Record<string, string>>, number: number) {
    const response = await get(path, { ...query, rowCount: String(apiPageRows), page: String(number) })
    if (Array.isArray(response)) return { rows: toObjects(response), pages: 1, total: response.length }
    const { rows, total_pages: pages, total } = toObject(response)
    return { rows: toObjects(rows), pages: toNumberOrZero(pages), total: toNumberOrZero(total) }
  }

  return {
    one: async (path: string): Promise<AzuracastRecord> => toObject(await get(path)),
    page,
    async all(path: string): Promise<AzuracastRecord[]> {
      const first = await page(path, {}, 1)
      const rows = [...first.rows]
      for (let number = 2; number <= first.pages; number++) rows.push(...(await page(path, {}, number)).rows)
      return rows
    },
    count: async (path: string, query: Readonly<Record<string, string>>): Promise<number> =>
      (await page(path, query, 1)).total,
    /** Null if the API refuses, as for the order of a playlist that has none. */
    optional: async (path: string): Promise<AzuracastRecord[] | null> =>
      get(path).then(toObjects, (error: unknown) => {
        if (error instanceof OperatorError) return null
        throw error
      })
  }
}

export type AzuracastClient = ReturnType<typeof openAzuracastClient>

export const toObject = (value: unknown): AzuracastRecord =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- members are checked where they are used
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as AzuracastRecord) : {}

export const toObjects = (value: unknown): AzuracastRecord[] =>
  Array.isArray(value) ? value.map(toObject) : []
export const toNumberOrZero = (value: unknown): number => (Number.isFinite(Number(value)) ? Number(value) : 0)

/** A list as text, as AzuraCast's database has it. */
export const toListText = (value: unknown): string =>
  Array.isArray(value) ? value.filter(each => each !== '').join(',') : scalarToText(value)
