import { setImmediate as nextTick, setTimeout as sleep } from 'node:timers/promises'

import { unreadBytesOfAll } from './body-buffer.ts'

/*
 * Bodies that are received in pieces share the event loop with all other requests. A connection that is resumed can
 * send megabytes before it can be paused again, so connections are resumed one after the other, none while too much is
 * unread, and later while the event loop is late, since other requests wait then.
 */

/** Little, because a connection that is resumed delivers up to some 20 MB more. */
const maxUnreadBytes = 4 * 1024 * 1024
const sampleMs = 10
/** About what a fast sender takes when it is resumed. */
const tolerableLagMs = 20
/** A rest takes this many times as long as the event loop was late. */
const restFactor = 4
const maxRestMs = 250

/** How late the event loop was; halved with each sample. */
let lagMs = 0
let bodies = 0
let probe: NodeJS.Timeout | undefined
const waiting = new Set<() => void>()
let isRunning = false

/** Must be called when the first bytes of a body may arrive. The lag is measured while there are bodies. */
export function addReceiver(): void {
  bodies += 1
  if (bodies > 1) return
  let dueMs = performance.now() + sampleMs
  probe = setInterval(() => {
    const nowMs = performance.now()
    lagMs = Math.max(nowMs - dueMs, lagMs / 2)
    dueMs = nowMs + sampleMs
  }, sampleMs)
  probe.unref()
}

/** Ends what `addReceiver` began, and cancels a call of `scheduleResume`. */
export function removeReceiver(resume: () => void): void {
  waiting.delete(resume)
  bodies -= 1
  if (bodies > 0) return
  clearInterval(probe)
  lagMs = 0
}

const isTooMuchUnread = () => unreadBytesOfAll() > maxUnreadBytes

/** Whether connections should be paused for the sake of others. */
export const mustWait = (): boolean => isTooMuchUnread() || lagMs > tolerableLagMs

/** Calls `resume` in a later tick of the event loop, after those that wait already. */
export function scheduleResume(resume: () => void): void {
  waiting.add(resume)
  if (!isRunning) void runScheduled()
}

async function runScheduled(): Promise<void> {
  isRunning = true
  while (waiting.size > 0) {
    // What a connection sends after it is resumed is counted before the next one is resumed.
    const restMs = Math.min(Math.max(sampleMs, lagMs * restFactor), maxRestMs)
    await (mustWait() ? sleep(restMs) : nextTick())
    const [resume] = waiting
    if (resume === undefined || isTooMuchUnread()) continue
    waiting.delete(resume)
    resume()
  }
  isRunning = false
}
