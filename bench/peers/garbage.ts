import { once } from 'node:events'

import { WebSocket } from 'ws'

import type { PushServer } from './push-servers.ts'

const waitMs = 10_000

/** `NODE_OPTIONS` for a server whose garbage is to be collected. */
export const inspectable = (port: number) => ({
  NODE_OPTIONS: `--inspect-port=127.0.0.1:${port} --inspect-publish-uid=http`
})

/**
 * Makes a server free what nobody holds, so that its memory is what its connections need: Node by way of its
 * inspector, Go by the debug endpoint. Others have no garbage.
 */
export async function collectGarbage({ pid, garbage }: PushServer): Promise<void> {
  if (garbage === null) return
  if (garbage.type === 'go') {
    await fetch(`http://127.0.0.1:${garbage.port}/debug/pprof/heap?gc=1`, {
      signal: AbortSignal.timeout(waitMs)
    })
    return
  }
  process.kill(pid, 'SIGUSR1')
  const socket = new WebSocket(await inspectorOf(garbage.port))
  try {
    await once(socket, 'open', { signal: AbortSignal.timeout(waitMs) })
    socket.send(JSON.stringify({ id: 1, method: 'HeapProfiler.collectGarbage' }))
    await once(socket, 'message', { signal: AbortSignal.timeout(waitMs) })
  } finally {
    socket.terminate()
  }
}

async function inspectorOf(port: number): Promise<string> {
  for (const deadline = Date.now() + waitMs; Date.now() < deadline;) {
    const answer = await fetch(`http://127.0.0.1:${port}/json`, { signal: AbortSignal.timeout(1_000) }).catch(
      () => null
    )
    const [target]: { webSocketDebuggerUrl: string }[] = JSON.parse((await answer?.text()) ?? '[]')
    if (target) return target.webSocketDebuggerUrl
  }
  throw new Error(`no inspector listens on port ${port}`)
}
