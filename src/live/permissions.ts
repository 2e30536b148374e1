import type { Logger } from '../log.ts'

export interface Permissions {
  /** Which of the stations the key may listen to. Never rejects: who cannot be asked about is not allowed. */
  readonly among: (key: string, stationIds: readonly number[]) => Promise<ReadonlySet<number>>
}

/** How long an answer may take; then it is no. */
const patienceMs = 5_000

/**
 * Asks whether keys may listen to private stations. Questions that are asked while the same one is still open
 * share its answer; nothing is remembered beyond that, so that a revocation is felt at once.
 */
export function openPermissions(
  mayListen: (key: string, stationId: number) => Promise<boolean>,
  log: Logger
): Permissions {
  const open = new Map<string, Promise<boolean>>()

  async function ask(key: string, stationId: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const noAnswer = new Promise<false>(resolve => {
      timer = setTimeout(resolve, patienceMs, false)
    })
    try {
      return await Promise.race([mayListen(key, stationId), noAnswer])
    } catch (error) {
      log.warn({ err: error, station: stationId }, 'a permission to listen cannot be checked')
      return false
    } finally {
      clearTimeout(timer)
      open.delete(`${stationId} ${key}`)
    }
  }

  function shared(key: string, stationId: number): Promise<boolean> {
    const name = `${stationId} ${key}`
    const running = open.get(name) ?? ask(key, stationId)
    open.set(name, running)
    return running
  }

  return {
    among: async (key, stationIds) => {
      const answers = await Promise.all(stationIds.map(stationId => shared(key, stationId)))
      return new Set(stationIds.filter((_, index) => answers[index]))
    }
  }
}
