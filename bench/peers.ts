import { startProgramOnAir } from './on-air.ts'
import { inspectorEnv } from './peers/garbage.ts'
import { measureGet } from './peers/get.ts'
import { measureMemory } from './peers/memory.ts'
import { drawGet, drawPush } from './peers/plots.ts'
import { readPublication } from './peers/publication.ts'
import { programInspector, startPushServers } from './peers/push-servers.ts'
import { measurePush } from './peers/push.ts'
import { selectParts } from './settings.ts'
import { openReceiver, type Receiver } from './sockets/receivers.ts'

const port = 18_210
const stations = 100
const stationId = 1
const firstTotal = 100_000

/**
 * Compares Cuewire with other servers (peers): `npm run bench -- peers`. The measured server runs on one
 * core; the load generator, Postgres, Redis and the workers on the other. Each run measures the servers one
 * after the other. `RUNS`, `SECONDS`, `CONNECTIONS`, `SOCKETS` and `RATE` change the load; `PARTS` selects
 * from `get`, `push` and `memory`.
 */
export async function peers(): Promise<void> {
  const parts = selectParts(['get', 'push', 'memory'])
  if (parts.includes('get')) await compareGet()
  const receiver = openReceiver()
  try {
    if (parts.includes('push')) await comparePush(receiver)
    if (parts.includes('memory')) await measureMemory(startAll, receiver)
  } finally {
    await receiver.close()
  }
}

async function compareGet(): Promise<void> {
  const program = await startProgramOnAir(port, { stations })
  try {
    await drawGet(await measureGet(program, stations))
  } finally {
    await program.stop()
  }
}

async function comparePush(receiver: Receiver): Promise<void> {
  const { servers, publication, stop } = await startAll()
  try {
    await drawPush(await measurePush(servers, publication, receiver))
  } finally {
    await stop()
  }
}

/** Starts the program and the peers that are installed; clients subscribe to one station. */
async function startAll() {
  const program = await startProgramOnAir(port, { stations, env: inspectorEnv(programInspector) })
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
