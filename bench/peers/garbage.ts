import { once } from 'node:events'

import { WebSocket } from 'ws'

const waitMs = 10_000

/** A server, and how its garbage is collected; null if it has no garbage collector. */
export interface GarbageSource {
  readonly pid: number
  readonly garbage: { readonly type: 'node' | 'go'; readonly port: number } | null
}

/** Returns the environment of a Node process that `collectGarbage` can connect to. */
export const inspectorEnv = (port: number) => ({
  NODE_OPTIONS: `--inspect-port=127.0.0.1:${port} --inspect-publish-uid=http`
})

/**
 * Collects the garbage of a server before its memory is measured: in Node with the inspector, in Go with the
 * debug endpoint. Does nothing for other servers.
 */
export async function collectGarbage({ pid, garbage }: GarbageSource): Promise<void> {
  if (garbage === null) return
  if (garbage.type === 'go') {
    await fetch(`http://127.0.0.1:${garbage.port}/debug/pprof/heap?gc=1`, {
      signal: AbortSignal.timeout(waitMs)
    })
    return
  }
  process.kill(pid, 'SIGUSR1')
  const socket = new WebSocket(await findInspectorUrl(garbage.port))
  try {
    await once(socket, 'open', { signal: AbortSignal.timeout(waitMs) })
    socket.send(JSON.stringify({ id: 1, method: 'HeapProfiler.collectGarbage' }))
    await once(socket, 'message', { signal: AbortSignal.timeout(waitMs) })
  } finally {
    socket.terminate()
  }
}

async function findInspectorUrl(port: number): Promise<string> {
  for (const deadline = Date.now() + waitMs; Date.now() < deadline;) {
    const response = await fetch(`http://127.0.0.1:${port}/json`, {
      signal: AbortSignal.timeout(1_000)
    }).catch(() => null)
    const [target]: { webSocketDebuggerUrl: string }[] = JSON.parse((await response?.text()) ?? '[]')
    if (target) return target.webSocketDebuggerUrl
  }
  throw new Error(`no inspector listened on port ${port} within ${waitMs} ms`)
}
