import * as v from 'valibot'

import { serverOf } from '../../elements/server-address.ts'
import { asRefusal, Refusal, refusalOf } from './api-error.ts'
import { keyOfTab } from './key.ts'

/** The server that sent this page. */
export const server: URL = serverOf(import.meta.url)

export interface CallOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly body?: unknown
  /** Instead of that of the tab. */
  readonly key?: string
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
}

const defaultPatienceMs = 20_000

/** The event that tells the page that its key is none any more. */
export const keyRefused = 'cuewire-key-refused'

/**
 * Asks the API (`api/stats`), with the key of the tab. Throws a `Refusal`, also where the answer is not as it
 * should be.
 */
export async function callApi<Schema extends v.GenericSchema>(
  schema: Schema,
  path: string,
  question: CallOptions = {}
): Promise<v.InferOutput<Schema>> {
  try {
    return await answerOf(schema, path, question)
  } catch (error) {
    const refusal = asRefusal(error)
    if (refusal.isStranger && question.key === undefined) document.dispatchEvent(new Event(keyRefused))
    throw refusal
  }
}

async function answerOf<Schema extends v.GenericSchema>(
  schema: Schema,
  path: string,
  { method = 'GET', body, key = keyOfTab(), signal, timeoutMs = defaultPatienceMs }: CallOptions
): Promise<v.InferOutput<Schema>> {
  const patience = AbortSignal.timeout(timeoutMs)
  const answer = await fetch(new URL(path, server), {
    method,
    headers: {
      ...(key === '' ? {} : { 'X-API-Key': key }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' })
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: signal ? AbortSignal.any([signal, patience]) : patience,
    credentials: 'omit',
    referrerPolicy: 'no-referrer'
  })
  const said: unknown = await answer.json().catch(() => null)
  if (!answer.ok) throw refusalOf(answer.status, said, answer.headers.get('Retry-After'))
  const parsed = v.safeParse(schema, said)
  if (!parsed.success) throw new Refusal('The server gave an answer that this page does not understand.')
  return parsed.output
}

/** What actions answer. */
export const done = v.object({ message: v.string() })
