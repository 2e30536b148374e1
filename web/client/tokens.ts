import type { ListenToken } from './interface.ts'

/** After a failure, and after the server refused a token, the next one is requested this much later. */
const retryMs = 30_000
/** Within this time after a failure, connections fail without another request. */
const failureTtlMs = 2_000
const maxTimerMs = 2 ** 31 - 1

/**
 * Gets listen tokens with `load`, one at a time, and another one when 70 to 90 % of the lifetime have passed,
 * so that the tokens of many clients are not renewed at once. Calls `onRenewed` for each token after the first.
 */
export function openTokenRenewal(load: () => Promise<ListenToken>, onRenewed: () => void) {
  let token = ''
  let expiresAtMs = 0
  let failedAtMs = -Infinity
  let loading: Promise<void> | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let isClosed = false

  async function loadNext(): Promise<void> {
    if (Date.now() - failedAtMs < failureTtlMs) throw new Error('no listen token')
    try {
      const { token: next, expires_in: seconds } = await load()
      token = next
      expiresAtMs = Date.now() + seconds * 1_000
      schedule(seconds * 1_000 * (0.7 + Math.random() * 0.2))
    } catch (error) {
      failedAtMs = Date.now()
      throw error
    }
  }

  const loadOnce = async () => (loading ??= loadNext().finally(() => (loading = null)))

  function schedule(delayMs: number): void {
    clearTimeout(timer)
    if (!isClosed) timer = setTimeout(renew, Math.min(delayMs, maxTimerMs))
  }

  function renew(): void {
    loadOnce().then(onRenewed, () => schedule(retryMs * (0.5 + Math.random() / 2)))
  }

  return {
    /** The newest token; empty before the first. */
    current: () => token,
    /** Waits for a token that has not expired. Rejects if `load` does. */
    ready: async (): Promise<void> => {
      if (Date.now() >= expiresAtMs) await loadOnce()
    },
    /** The server refused the token: the next connection gets another one, and so does an open one later. */
    discard: () => {
      if (token === '' || expiresAtMs === 0) return
      expiresAtMs = 0
      schedule(retryMs * (0.5 + Math.random() / 2))
    },
    close: () => {
      isClosed = true
      clearTimeout(timer)
    }
  }
}
