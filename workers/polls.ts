import { addMissingPolls } from '../src/broadcast/polls/poll-rows.ts'
import { openPoller, type PollServices } from '../src/broadcast/polls/poller.ts'
import { engineTimeMs } from '../src/runtime/engine-time.ts'
import { repeat, type Repetition } from '../src/runtime/repeat.ts'

const pauseMs = 250
/** The pause if more servers are due than were asked. */
const shortPauseMs = 20
const addMs = 30_000

/** Asks streaming servers for listeners and titles. */
export function startPolls(services: PollServices): Repetition {
  const stopping = new AbortController()
  const poller = openPoller(services, stopping.signal)
  let addAtMs = 0

  async function run(): Promise<number> {
    if (performance.now() >= addAtMs) {
      await addMissingPolls(services.sql)
      addAtMs = performance.now() + addMs
    }
    const { isFull } = await poller.startDue(engineTimeMs())
    return isFull ? shortPauseMs : pauseMs
  }

  const { log } = services
  const loop = repeat(run, {
    pauseMs,
    log,
    failure: 'streaming servers not asked',
    onStopped: () => poller.drain()
  })
  return {
    stop: async () => {
      stopping.abort()
      await loop.stop()
    }
  }
}
