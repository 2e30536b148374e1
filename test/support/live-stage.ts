import { randomInt } from 'node:crypto'
import { once } from 'node:events'

import type { StationState } from '../../src/model/station/state.ts'
import type { Trigger } from '../../src/model/station/triggers.ts'
import { openRedis } from '../../src/stores/redis/connection.ts'
import { afterSong, aStation } from './builders.ts'
import type { RunningServer } from './program.ts'
import { putState } from './put-state.ts'
import { waitFor } from './wait.ts'

/** A station that a test can change. */
export interface StagedStation {
  readonly id: number
  readonly shortName: string
  /** `station:<short name>` */
  readonly channel: string
  readonly state: () => StationState
  /** Commits a new state; by default with the next offset. */
  readonly change: (parts: Partial<StationState>, triggers?: readonly Trigger[]) => Promise<StationState>
  /** Commits the next song, with its trigger. */
  readonly play: (title: string) => Promise<StationState>
}

/** A server process, and stations that are written to its Redis, without a database. */
export interface Stage extends Disposable {
  /** The current server process. */
  readonly server: RunningServer
  /**
   * Ends the process and, after `meanwhile`, starts another one at the same address. Returns the exit code of
   * the first.
   */
  readonly restart: (signal: NodeJS.Signals, meanwhile?: () => Promise<unknown>) => Promise<number | null>
  readonly baseUrl: string
  readonly redis: ReturnType<typeof openRedis>
  /** Creates a station for a test, and waits until the server shows it. */
  readonly put: (parts?: Parameters<typeof aStation>[0]) => Promise<StagedStation>
  /** Creates an API key that has access to private stations until it is revoked. */
  readonly makeKey: () => Promise<{ key: string; revoke: () => Promise<void> }>
  /** An unused name for a station that may be created later. */
  readonly newName: () => { id: number; shortName: string }
}

/**
 * Opens a stage on a server. It can be restarted only with `start`, which starts the server on the same port.
 */
export function openStage(
  first: RunningServer,
  redisUrl: string,
  start?: () => Promise<RunningServer>
): Stage {
  let server = first
  const redis = openRedis({ urls: [redisUrl], isCluster: false }, 'stage')
  redis.on('error', () => {})
  // Other stages may have written stations to the same Redis.
  let lastId = randomInt(1_000, 1_000_000)

  function newName() {
    lastId++
    return { id: lastId, shortName: `stage_${lastId}` }
  }

  async function put(parts: Parameters<typeof aStation>[0] = {}): Promise<StagedStation> {
    const { id, shortName } =
      parts.stationId === undefined
        ? newName()
        : { id: parts.stationId, shortName: parts.profile?.shortName ?? `stage_${parts.stationId}` }
    let state = aStation({ ...parts, stationId: id, profile: { shortName, ...parts.profile } })
    await putState(redis, state, ['station_online'])
    const isShown = async () => (await server.ask('GET', `/api/nowplaying/${id}`)).status === 200
    await waitFor(isShown, { deadlineMs: 5_000, what: `station ${id} to be shown` })

    async function follow(next: StationState, triggers: readonly Trigger[]): Promise<StationState> {
      await putState(redis, next, triggers)
      state = next
      return next
    }

    return {
      id,
      shortName,
      channel: `station:${shortName}`,
      state: () => state,
      change: async (changed, triggers = []) => {
        const playback = Math.max(...Object.values(state.revisions)) + 1
        const revisions = { ...state.revisions, playback }
        return follow({ ...state, offset: state.offset + 1, revisions, ...changed }, triggers)
      },
      play: async title => follow(afterSong(state, { title }), ['song_changed'])
    }
  }

  async function makeKey() {
    const keys = '/api/v1/main/api-keys'
    const made = await server.ask('POST', keys, {
      body: { name: 'listener', permissions: ['view station management'] }
    })
    if (made.status !== 200) throw new Error(`no key was made: ${made.status}`)
    const revoke = async () => {
      const { status } = await server.ask('POST', `${keys}/revoke/${made.body.api_key.id}`)
      if (status !== 200) throw new Error(`the key was not revoked: ${status}`)
    }
    return { key: String(made.body.key), revoke }
  }

  async function restart(signal: NodeJS.Signals, meanwhile: () => Promise<unknown> = async () => {}) {
    if (start === undefined) throw new Error('this stage does not know how its server is started')
    const { process } = server
    const ended = once(process, 'exit')
    process.kill(signal)
    await ended
    await meanwhile()
    server = await start()
    return process.exitCode
  }

  return {
    get server() {
      return server
    },
    restart,
    makeKey,
    baseUrl: first.baseUrl,
    redis,
    newName,
    put,
    [Symbol.dispose]: () => {
      redis.disconnect()
      server.process.kill('SIGKILL')
    }
  }
}
