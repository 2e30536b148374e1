import type { ReactiveControllerHost } from 'lit'

import { type ApiRequestError, toApiRequestError } from '../api/api-error.ts'
import { callApi } from '../api/call-api.ts'
import type { ScheduleSimulation } from '../api/responses.ts'
import type { StationPath } from '../api/typed-response.ts'

export type Simulation = ScheduleSimulation
export type SimulationNote = Pick<
  Simulation['missed' | 'warnings'][number],
  'playlist_id' | 'code' | 'message'
>

/** The body of a simulation: a period, and playlists with unsaved settings. */
export interface SimulationBody {
  readonly days: number
  readonly from: string
  readonly playlists: readonly object[]
}

/** Simulates what a station would play. Stored settings need no permission to write. Throws an `ApiRequestError`. */
export function requestSimulation(
  stationPath: StationPath,
  { days, from, playlists }: SimulationBody,
  signal?: AbortSignal
): Promise<Simulation> {
  const path = `${stationPath}/schedule/simulation` as const
  const options = { timeoutMs, isSave: false, ...(signal ? { signal } : {}) }
  if (playlists.length > 0) return callApi('POST', path, { body: { days, from, playlists }, ...options })
  return callApi('GET', `${path}?days=${days}&from=${from}`, options)
}

const debounceMs = 600
const retryMs = 4_000
const timeoutMs = 25_000

/**
 * Simulates what a station would play whenever `body`, which is evaluated at every update of the host,
 * changes, or `refreshKey` does. The last result stays until the next one arrives. `body` null: nothing is
 * simulated.
 */
export function watchSimulation(
  host: ReactiveControllerHost,
  path: () => StationPath,
  body: () => SimulationBody | null,
  refreshKey: () => unknown = () => null
) {
  const state: {
    value: Simulation | null
    error: ApiRequestError | null
    isRunning: boolean
    readonly current: Simulation | null
  } = {
    value: null,
    error: null,
    isRunning: false,
    /** The result for `body` as it is now; null until it arrives. */
    get current() {
      return simulated === JSON.stringify(body()) ? state.value : null
    }
  }
  /** The request that `value` answers. */
  let simulated: string | null = null
  let wanted: SimulationBody | null = null
  let current: string | null = null
  let currentKey: unknown
  let timer: ReturnType<typeof setTimeout> | undefined
  let aborter = new AbortController()

  function schedule(delayMs: number): void {
    clearTimeout(timer)
    aborter.abort()
    timer = setTimeout(() => void run(), delayMs)
  }

  async function run(): Promise<void> {
    if (wanted === null) return
    aborter = new AbortController()
    const { signal } = aborter
    const request = current
    state.isRunning = true
    host.requestUpdate()
    try {
      const value = await requestSimulation(path(), wanted, signal)
      if (signal.aborted) return
      state.value = value
      simulated = request
      state.error = null
    } catch (error) {
      if (signal.aborted) return
      state.error = toApiRequestError(error)
      // Another simulation of this key, or too many others, are in progress.
      if (state.error.status === 429 || state.error.status === 503) schedule(retryMs)
    }
    state.isRunning = false
    host.requestUpdate()
  }

  host.addController({
    hostConnected: () => {
      if (current !== null) schedule(0)
    },
    hostDisconnected: () => {
      clearTimeout(timer)
      aborter.abort()
    },
    hostUpdate: () => {
      wanted = body()
      const next = wanted === null ? null : JSON.stringify(wanted)
      const key = refreshKey()
      if (next === current && key === currentKey) return
      const isFirst = current === null
      current = next
      currentKey = key
      schedule(isFirst ? 0 : debounceMs)
    }
  })
  return state
}
