import { setTimeout as sleep } from 'node:timers/promises'

import { type RandomSource, createSeededRandom } from '../../src/model/autodj/random.ts'
import { askPlainly } from '../support/plain-http.ts'
import { type JsonBody, adminKey } from '../support/program.ts'
import type { Journal } from './journal.ts'
import {
  openRecordSet,
  openRegister,
  outcomeOfStatus,
  type RecordSet,
  type Register
} from './judge-writes.ts'
import { between, pick } from './plan.ts'

/** A station with the data that operators need. */
interface OperatedStation {
  readonly id: number
  readonly mediaIds: readonly number[]
  /** A playlist, and the songs that operators add to it and remove; null: they do not change its songs. */
  readonly changing: { readonly playlistId: number; readonly mediaIds: readonly number[] } | null
}

/** Records of the writes of operators, to be compared with the stored records. */
export interface Operators {
  readonly descriptions: readonly Register[]
  readonly listeners: readonly Register[]
  readonly playlists: readonly RecordSet[]
  readonly queueRows: readonly RecordSet[]
  /** Plays that operators tried to skip, and those whose skip was accepted. */
  readonly skipped: ReadonlySet<number>
  readonly skipsAccepted: ReadonlySet<number>
  /** The time at which a description was accepted, by its text: clients show it from then on. */
  readonly acceptedAtMs: ReadonlyMap<string, number>
  /** Waits for actions in flight, and starts no new ones until `resume`. */
  readonly pause: () => Promise<void>
  readonly resume: () => void
}

export interface OperatorOptions {
  readonly seed: number
  readonly stations: readonly OperatedStation[]
  readonly baseUrls: readonly string[]
  readonly journal: Journal
  readonly signal: AbortSignal
}

const shortestPauseMs = 300
const longestPauseMs = 1_100
const responseMs = 12_000

/** Starts operators, one for each kind of action. They end when the signal is aborted. */
export function openOperators(options: OperatorOptions): Operators {
  const { stations, journal, signal } = options
  const perStation = <Item>(make: (station: OperatedStation) => Item) =>
    new Map(stations.map(station => [station, make(station)]))
  const descriptions = perStation(({ id }) => openRegister(id, 'description', ''))
  const listeners = perStation(({ id }) => openRegister(id, 'listeners', '0'))
  const playlists = perStation(({ id }) => openRecordSet(id, 'playlist'))
  const queueRows = perStation(({ id }) => openRecordSet(id, 'queue row'))
  const skipped = new Set<number>()
  const skipsAccepted = new Set<number>()
  const acceptedAtMs = new Map<string, number>()
  const of = <Item>(map: ReadonlyMap<OperatedStation, Item>, station: OperatedStation): Item => {
    const item = map.get(station)
    if (item === undefined) throw new Error(`station ${station.id} has no operator`)
    return item
  }

  interface ActionContext {
    readonly number: number
    readonly random: RandomSource
    readonly station: OperatedStation
    readonly ask: (
      method: string,
      path: string,
      body?: unknown
    ) => Promise<{ status: number; body: JsonBody }>
  }

  const actions: Record<string, (context: ActionContext) => Promise<void>> = {
    editor: async ({ number, random, station, ask }) => {
      const isBad = random() < 0.2
      const description = `${isBad ? 'bad' : 'text'} ${number}`
      const body = { description, ...(isBad ? { history_length: 'many' } : {}) }
      const record = of(descriptions, station).write(description)
      const { status } = await ask('PUT', `/api/admin/station/${station.id}`, body)
      record(outcomeOfStatus(status))
      if (status === 200) acceptedAtMs.set(`${station.id} ${description}`, performance.now())
    },
    reporter: async ({ random, station, ask }) => {
      const total = between(random, 0, 500)
      const record = of(listeners, station).write(String(total))
      const { status } = await ask('PUT', `/api/station/${station.id}/listeners`, { total })
      record(outcomeOfStatus(status))
    },
    librarian: async ({ number, random, station, ask }) => {
      const isBad = random() < 0.2
      const name = `${isBad ? 'bad' : 'list'} ${number}`
      // Disabled, so that it does not change what plays.
      const body = { name, is_enabled: false, weight: isBad ? 1_000 : 3 }
      const { status, body: made } = await ask('POST', `/api/station/${station.id}/playlists`, body)
      of(playlists, station).created(name, outcomeOfStatus(status))
      if (status !== 200 || random() < 0.5) return
      const removed = await ask('DELETE', `/api/station/${station.id}/playlist/${made.id}`)
      of(playlists, station).removed(name, outcomeOfStatus(removed.status))
    },
    queuer: async ({ random, station, ask }) => {
      const path = `/api/station/${station.id}/queue`
      const rows = of(queueRows, station)
      const choice = random()
      const media = pick(random, station.mediaIds)
      const place = between(random, 1, 5)
      if (choice < 0.15) {
        // A clear without a response may be committed, even later.
        rows.forget()
        await ask('POST', `${path}/clear`)
        rows.forget()
      } else if (choice < 0.75) {
        const { status, body } = await ask('POST', path, { media_id: media, position: place })
        if (status === 200) rows.created(rowIdOf(body), 'accepted')
      } else {
        const { body: queue } = await ask('GET', path)
        const row = Array.isArray(queue) ? queue.at(-1) : undefined
        if (row === undefined) return
        const id = rowIdOf(row)
        if (choice < 0.9) await ask('PUT', `${path}/${id}/move`, { position: place })
        else {
          const { status } = await ask('DELETE', `${path}/${id}`)
          rows.removed(id, status === 404 ? 'unknown' : outcomeOfStatus(status))
        }
      }
    },
    curator: async ({ random, station, ask }) => {
      if (station.changing === null) return
      const { playlistId, mediaIds } = station.changing
      const body = { playlists: random() < 0.6 ? [playlistId] : [] }
      await ask('PUT', `/api/station/${station.id}/file/${pick(random, mediaIds)}`, body)
    },
    skipper: async ({ station, ask }) => {
      const { body } = await ask('GET', `/api/nowplaying/${station.id}`)
      const shId: unknown = body?.now_playing?.sh_id
      if (typeof shId !== 'number' || shId === 0) return
      skipped.add(shId)
      const { status } = await ask('POST', `/api/station/${station.id}/backend/skip`, { sh_id: shId })
      if (status === 200) skipsAccepted.add(shId)
    }
  }

  const gate = { isPaused: false, inFlight: 0 }
  const operate = async (name: string, action: (context: ActionContext) => Promise<void>, index: number) => {
    const random = createSeededRandom(options.seed, 100 + index)
    const operated = name === 'curator' ? stations.filter(({ changing }) => changing !== null) : stations
    for (let number = 1; !signal.aborted; number++) {
      const station = pick(random, operated)
      const url = pick(random, options.baseUrls)
      const other = options.baseUrls.find(each => each !== url) ?? url
      const pauseMs = between(random, shortestPauseMs, longestPauseMs)
      // Random choices of an action do not depend on responses to others.
      const own = createSeededRandom(options.seed, 1_000_000 * (index + 1) + number)
      while (gate.isPaused && !signal.aborted) await sleep(50)
      gate.inFlight++
      try {
        const ask: ActionContext['ask'] = async (method, path, body) => {
          const response = await send([url, other], method, path, body)
          journal.count(`answers ${response.status}`)
          if (method !== 'GET') {
            journal.count('writes')
            const what = body === undefined ? '' : ` ${JSON.stringify(body)}`
            journal.note(station.id, `${name}: ${method} ${path}${what} -> ${response.status}`)
          }
          return response
        }
        await action({ number, random: own, station, ask })
      } finally {
        gate.inFlight--
      }
      await sleep(pauseMs)
    }
  }
  for (const [index, [name, action]] of Object.entries(actions).entries())
    void operate(name, action, index).catch((error: unknown) =>
      journal.violate([{ rule: 'the checker works', stationId: null, detail: `${name}: ${String(error)}` }])
    )

  return {
    descriptions: [...descriptions.values()],
    listeners: [...listeners.values()],
    playlists: [...playlists.values()],
    queueRows: [...queueRows.values()],
    skipped,
    skipsAccepted,
    acceptedAtMs,
    pause: async () => {
      gate.isPaused = true
      const deadline = performance.now() + 2 * responseMs
      while (gate.inFlight > 0 && performance.now() < deadline && !signal.aborted) await sleep(50)
    },
    resume: () => {
      gate.isPaused = false
    }
  }
}

/**
 * Sends a request to the first server, or to the other if the connection is refused, as a load balancer does.
 * Status 0 means no response.
 */
async function send(
  [url, other]: readonly [string, string],
  method: string,
  path: string,
  body: unknown
): Promise<{ status: number; body: JsonBody }> {
  for (const base of [url, other]) {
    try {
      const response = await askPlainly(base + path, {
        method,
        headers: { 'Content-Type': 'application/json', 'X-API-Key': adminKey },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: AbortSignal.timeout(responseMs),
        isSentOnce: method !== 'GET'
      })
      const isJson = response.headers['content-type']?.startsWith('application/json') === true
      return { status: response.status, body: isJson ? JSON.parse(response.body.toString()) : null }
    } catch (error) {
      if (!isRefused(error)) break
    }
  }
  return { status: 0, body: null }
}

/** The id of a queue row, from its link. */
const rowIdOf = (row: JsonBody): string => String(row.links.self).split('/').at(-1) ?? ''

const isRefused = (error: unknown) => Reflect.get(Object(error), 'code') === 'ECONNREFUSED'
