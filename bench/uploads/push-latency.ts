import { setTimeout as wait } from 'node:timers/promises'

import { nowMs } from '../clock.ts'
import type { ProgramOnAir } from '../on-air.ts'
import type { Sampling } from '../sockets/commands.ts'
import type { Receiver } from '../sockets/receivers.ts'
import { sortAscending } from '../statistics.ts'

const changeMs = 500
const stationId = 1
/** The listener count of the station identifies a frame; those of mounts come before it. */
const sampling: Sampling = { marker: '"listeners":{"total":', isLast: true, every: 1 }

/** Changes the listener count of a station twice a second, and measures how soon sockets get the new one. */
export function openPushLatency(program: ProgramOnAir, receiver: Receiver) {
  let total = 0
  return {
    /** Returns the latencies in milliseconds, ascending, from the request of a change to each socket. */
    async measure(until: Promise<unknown>): Promise<readonly number[]> {
      const ended = new AbortController()
      const end = () => ended.abort()
      until.then(end, end)
      const sentMs = new Map<number, number>()
      await receiver.run({ type: 'count', sampling })
      while (!ended.signal.aborted) {
        total += 1
        sentMs.set(total, nowMs())
        await program.reportListeners(stationId, total)
        await wait(changeMs)
      }
      const { samples } = await receiver.run({ type: 'read' })
      return sortAscending(
        samples.flatMap(([, frame, atMs]) => {
          const sent = sentMs.get(frame)
          return sent === undefined ? [] : [atMs - sent]
        })
      )
    }
  }
}
