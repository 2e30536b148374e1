import { type OnAir, startOnAir } from './on-air.ts'
import { inspectable } from './peers/garbage.ts'
import { measureGet } from './peers/get.ts'
import { measureMemory } from './peers/memory.ts'
import { drawGet, drawPush } from './peers/plots.ts'
import { readPublication } from './peers/publication.ts'
import { programInspector, startPushServers } from './peers/push-servers.ts'
import { measurePush } from './peers/push.ts'
import { wantedParts } from './settings.ts'
import { openReceiver } from './sockets/receivers.ts'

const port = 18_210
const stations = 100
const stationId = 1
const firstTotal = 100_000

/**
 * Side by side with peers: `npm run bench -- peers`. Servers have one core, the load has the other, together with
 * Postgres, Redis and the workers. Each server has its turn in each run. `RUNS`, `SECONDS`, `CONNECTIONS`, `SOCKETS` and `RATE` change the load,
 * `PARTS` picks from get, push and memory.
 */
export async function peers(): Promise<void> {
  const parts = wantedParts(['get', 'push', 'memory'])
  const program = await startOnAir(port, { stations, env: inspectable(programInspector) })
  try {
    if (parts.includes('get')) await drawGet(await measureGet(program, stations))
    if (parts.includes('push') || parts.includes('memory')) await push(program, parts)
  } finally {
    await program.stop()
  }
}

async function push(program: OnAir, parts: readonly string[]): Promise<void> {
  const publication = await readPublication(program, stationId, firstTotal)
  const servers = await startPushServers(program, publication)
  const receiver = openReceiver()
  try {
    if (parts.includes('push')) await drawPush(await measurePush(servers, publication, receiver))
    if (parts.includes('memory')) await measureMemory(servers, receiver)
  } finally {
    await receiver.close()
    for (const server of servers) await server.stop()
  }
}
