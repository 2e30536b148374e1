import { setTimeout as sleep } from 'node:timers/promises'

import { addPolls } from '../src/broadcast/polls/poll-rows.ts'
import { openPolls, type PollServices } from '../src/broadcast/polls/polls.ts'
import { engineTimeMs } from '../src/runtime/engine-time.ts'

/** How often the worker looks for servers that are due; and again where it had room for no more. */
const lookMs = 250
const soonMs = 20
const addMs = 30_000

/** Asks streaming servers who listens and what they play. */
export function startPolls(services: PollServices): { stop: () => Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping
  const polls = openPolls(services, signal)
  let isFailing = false
  let addAtMs = 0

  async function look(): Promise<number> {
    if (performance.now() >= addAtMs) {
      await addPolls(services.sql)
      addAtMs = performance.now() + addMs
    }
    const { isFull } = await polls.look(engineTimeMs())
    return isFull ? soonMs : lookMs
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      let pauseMs = lookMs
      try {
        pauseMs = await look()
        isFailing = false
      } catch (error) {
        if (!isFailing && !signal.aborted)
          services.log.warn({ err: error }, 'streaming servers not asked; trying again')
        isFailing = true
      }
      await sleep(pauseMs * (0.8 + Math.random() * 0.4), undefined, { signal }).catch(() => {})
    }
    await polls.settled()
  }

  const running = run()
  return {
    stop: async () => {
      stopping.abort()
      await running
    }
  }
}
