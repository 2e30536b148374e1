import { startOnAir } from './on-air.ts'
import { inspectable } from './peers/garbage.ts'
import { measureGet } from './peers/get.ts'
import { measureMemory } from './peers/memory.ts'
import { drawGet, drawPush } from './peers/plots.ts'
import { readPublication } from './peers/publication.ts'
import { programInspector, startPushServers } from './peers/push-servers.ts'
import { measurePush } from './peers/push.ts'
import { wantedParts } from './settings.ts'
import { openReceiver, type Receiver } from './sockets/receivers.ts'

const port = 18_210
const stations = 100
const stationId = 1
const firstTotal = 100_000

/**
 * Side by side with peers: `npm run bench -- peers`. Servers have one core, the load has the other, together
 * with Postgres, Redis and the workers. Each server has its turn in each run. `RUNS`, `SECONDS`,
 * `CONNECTIONS`, `SOCKETS` and `RATE` change the load, `PARTS` picks from get, push and memory.
 */
export async function peers(): Promise<void> {
  const parts = wantedParts(['get', 'push', 'memory'])
  if (parts.includes('get')) await polls()
  const receiver = openReceiver()
  try {
    if (parts.includes('push')) await pushes(receiver)
    if (parts.includes('memory')) await measureMemory(startAll, receiver)
  } finally {
    await receiver.close()
  }
}

async function polls(): Promise<void> {
  const program = await startOnAir(port, { stations })
  try {
    await drawGet(await measureGet(program, stations))
  } finally {
    await program.stop()
  }
}

async function pushes(receiver: Receiver): Promise<void> {
  const { servers, publication, stop } = await startAll()
  try {
    await drawPush(await measurePush(servers, publication, receiver))
  } finally {
    await stop()
  }
}

/** The program and its peers, each with one station to follow. */
async function startAll() {
  const program = await startOnAir(port, { stations, env: inspectable(programInspector) })
  try {
    const publication = await readPublication(program, stationId, firstTotal)
    const servers = await startPushServers(program, publication)
    const stop = async () => {
      for (const server of servers) await server.stop()
      await program.stop()
    }
    return { servers, publication, stop }
  } catch (error) {
    await program.stop()
    throw error
  }
}
