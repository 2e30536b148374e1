import { setTimeout as sleep } from 'node:timers/promises'

import { withDeadline } from '../../src/platform/runtime/deadline.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { openPlayoutClient, type PlayoutClient } from '../support/playout-client.ts'
import type { Program } from '../support/program.ts'
import type { Journal } from './journal.ts'

/** A playout that plays the songs it receives, reports each, and executes commands. */
export interface PlayoutScript {
  readonly stationId: number
  /** Queue rows whose report was accepted. */
  readonly accepted: ReadonlySet<number>
}

export interface PlayoutOptions {
  readonly sql: Sql
  readonly ask: Program['ask']
  /** The base URL of a server that is ready. */
  readonly baseUrl: () => string
  readonly songMs: number
  readonly journal: Journal
  readonly signal: AbortSignal
}

const responseMs = 14_000
const retryMs = 400

/** Creates a station with a playout and starts it. It stops when the signal is aborted. */
export async function openPlayoutScript(options: PlayoutOptions): Promise<PlayoutScript> {
  const { sql, ask, songMs, signal, journal } = options
  const program = {
    sql,
    ask,
    get baseUrl() {
      return options.baseUrl()
    }
  }
  const client = await openPlayoutClient(program, { songMs, tracks: 40 })
  const accepted = new Set<number>()
  const script = playSongs({ client, accepted, songMs, journal, signal })
  void script.catch((error: unknown) => {
    const detail = `playout: ${String(error)}`
    journal.violate([{ rule: 'the checker works', stationId: client.id, detail }])
  })
  return { stationId: client.id, accepted }
}

interface Playing {
  readonly client: PlayoutClient
  readonly accepted: Set<number>
  readonly songMs: number
  readonly journal: Journal
  readonly signal: AbortSignal
}

async function playSongs({ client, accepted, songMs, journal, signal }: Playing): Promise<void> {
  const { id } = client
  let seen = ''
  /** Calls until the status is 200. Returns null after a 404 or 409, or once the signal is aborted. */
  const call = async (action: string, body: () => object) => {
    while (!signal.aborted) {
      const response = await withDeadline(responseMs, action, () => client.call(action, body())).catch(
        () => null
      )
      if (response?.status === 200) return response.body
      journal.note(id, `playout: ${action} -> ${response?.status ?? 'no answer'}`)
      if (response?.status === 404 || response?.status === 409) return null
      await sleep(retryMs)
    }
    return null
  }
  const nextSong = async (last: string) => {
    const response = await call('nextsong', () => ({ last }))
    const found = /sq_id="(\d+)"/.exec(String(response?.uri ?? ''))
    return found?.[1] ?? null
  }

  const current = { isSkipped: false }
  const executeCommands = async () => {
    while (!signal.aborted) {
      const received = await call('commands', () => ({ seen }))
      if (received === null) await sleep(retryMs)
      else {
        seen = received.seen
        current.isSkipped ||= received.commands.some(({ type }: { type: string }) => type === 'skip')
      }
    }
  }
  const executing = executeCommands()

  let queued = await nextSong('')
  while (!signal.aborted) {
    if (queued === null) {
      await sleep(retryMs)
      queued = await nextSong('')
      continue
    }
    const playing = queued
    current.isSkipped = false
    const startedAtMs = performance.now()
    const elapsedMs = () => performance.now() - startedAtMs
    const response = await call('feedback', () => ({
      sq_id: playing,
      ago: (elapsedMs() / 1000).toFixed(3)
    }))
    journal.note(id, `playout: started ${playing} -> ${JSON.stringify(response)}`)
    if (response === true) accepted.add(Number(playing))
    queued = await nextSong(playing)
    while (!current.isSkipped && elapsedMs() < songMs && !signal.aborted) await sleep(50)
  }
  await executing
}
