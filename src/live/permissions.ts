import type { Logger } from '../runtime/log.ts'

/** `address`: the address of a client that has just sent the key, so that guesses can be limited. */
export type ListenPermission = (key: string, stationId: number, address?: string) => Promise<boolean>

export interface Permissions {
  /** Which of the stations the key may listen to. Never rejects: who cannot be asked about is not allowed. */
  readonly among: (
    key: string,
    stationIds: readonly number[],
    address?: string
  ) => Promise<ReadonlySet<number>>
}

/** Without an answer in this time the permission is refused. */
const timeoutMs = 5_000

/**
 * Checks whether keys may listen to private stations. Concurrent checks of the same key and station are
 * coalesced; nothing is cached, so a revocation takes effect at once.
 */
export function openPermissions(mayListen: ListenPermission, log: Logger): Permissions {
  const open = new Map<string, Promise<boolean>>()

  async function ask(key: string, stationId: number, address?: string): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const noAnswer = new Promise<false>(resolve => {
      timer = setTimeout(resolve, timeoutMs, false)
    })
    try {
      return await Promise.race([mayListen(key, stationId, address), noAnswer])
    } catch (error) {
      log.warn({ err: error, station: stationId }, 'a permission to listen cannot be checked')
      return false
    } finally {
      clearTimeout(timer)
      open.delete(`${stationId} ${key}`)
    }
  }

  function shared(key: string, stationId: number, address?: string): Promise<boolean> {
    const name = `${stationId} ${key}`
    const running = open.get(name) ?? ask(key, stationId, address)
    open.set(name, running)
    return running
  }

  return {
    among: async (key, stationIds, address) => {
      const answers = await Promise.all(stationIds.map(stationId => shared(key, stationId, address)))
      return new Set(stationIds.filter((_, index) => answers[index]))
    }
  }
}
