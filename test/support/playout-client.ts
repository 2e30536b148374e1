import { askPlainly } from './plain-http.ts'
import type { JsonBody, Program } from './program.ts'
import { seedStation, type Shape } from './stations.ts'

/** A station with the backend `liquidsoap`, and a client that acts as its playout. */
export interface PlayoutClient {
  readonly id: number
  readonly key: string
  /** Calls an action of the playout API. */
  readonly call: (action: string, body?: object) => Promise<{ status: number; body: JsonBody }>
  /** Requests the next song. Returns its annotations. */
  readonly next: (last?: string) => Promise<Record<string, string>>
  readonly shown: () => Promise<JsonBody>
}

export async function openPlayoutClient(
  program: Pick<Program, 'sql' | 'ask' | 'baseUrl'>,
  shape: Omit<Shape, 'stations'> = {},
  record: object = {}
): Promise<PlayoutClient> {
  // In one transaction, so that the clock does not start to play.
  const id = await program.sql.begin(async tx => {
    const made = await seedStation(tx, shape)
    await tx`update stations set is_enabled = false where id = ${made}`
    return made
  })
  const body = { backend: 'liquidsoap', is_enabled: true, crossfade_type: 'none', ...record }
  await program.ask('PUT', `/api/admin/station/${id}`, { body })
  const made = await program.ask('POST', `/api/station/${id}/playout-key`)
  const key: string = made.body.playout_key
  const call: PlayoutClient['call'] = async (action, sent = {}) => {
    const response = await askPlainly(`${program.baseUrl}/api/internal/${id}/liquidsoap/${action}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Liquidsoap-Api-Key': key },
      body: JSON.stringify(sent)
    })
    return { status: response.status, body: JSON.parse(response.body.toString()) }
  }
  return {
    id,
    key,
    call,
    next: async last => annotationsOf((await call('nextsong', last === undefined ? {} : { last })).body.uri),
    shown: async () => (await program.ask('GET', `/api/nowplaying/${id}`, { key: '' })).body
  }
}

/** For `expect.poll`: reports of a playout are shown after the response, later on a busy machine. */
export const promptly = { timeout: 10_000, interval: 20 }

/** Parses `annotate:` as Liquidsoap does. */
export function annotationsOf(uri: string): Record<string, string> {
  const found = uri.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)
  return Object.fromEntries(
    [...found].map(([, name = '', value = '']) => [name, value.replace(/\\(.)/g, '$1')])
  )
}
