/*
 * The memory of all bodies that are being received. A connection that is resumed can send megabytes before it can be paused
 * again, so connections are resumed one after the other, and none while too much is unread.
 */

const maxBytes = 32 * 1024 * 1024
let unreadBytes = 0
const waiting = new Set<() => void>()
let isTurnComing = false

/** Counts bytes that have arrived; negative: that were read or dropped. */
export function countUnread(bytes: number): void {
  unreadBytes += bytes
  if (bytes < 0) giveTurn()
}

/** Whether no connection should send more. */
export const isTooMuchUnread = (): boolean => unreadBytes > maxBytes

/** Calls `resume` in a later turn of the event loop, after those that wait already and once little enough is unread. */
export function resumeInTurn(resume: () => void): void {
  waiting.add(resume)
  giveTurn()
}

/** Withdraws a call of `resumeInTurn`. */
export function leaveTurn(resume: () => void): void {
  waiting.delete(resume)
}

/** One turn of the event loop each, so that what a connection sends is counted before the next one is resumed. */
function giveTurn(): void {
  if (isTurnComing || waiting.size === 0 || isTooMuchUnread()) return
  isTurnComing = true
  setImmediate(() => {
    isTurnComing = false
    const [resume] = waiting
    if (resume !== undefined) {
      waiting.delete(resume)
      resume()
    }
    giveTurn()
  })
}
