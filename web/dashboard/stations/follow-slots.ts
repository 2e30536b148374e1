import type { ReactiveControllerHost } from 'lit'

import { openSemaphore } from './semaphore.ts'
import { seenFor } from './visibility.ts'

/** What only passes by is not followed, and what is out of sight for a moment still is. */
const settledMs = 300
const keptMs = 5_000
/** Each takes a connection of its own. */
const seats = openSemaphore(24)

/** Whether an element may follow what it shows: it has been in sight for a while, and few others do. */
export function followSlotFor(host: ReactiveControllerHost & Element): { readonly isOn: boolean } {
  const seen = seenFor(host)
  let isOn = false
  let wasSeen = false
  let leave: (() => void) | null = null
  let timer: ReturnType<typeof setTimeout> | undefined

  function settle(): void {
    leave ??= seats.ask(() => {
      isOn = true
      host.requestUpdate()
    })
  }

  function end(): void {
    isOn = false
    leave?.()
    leave = null
    host.requestUpdate()
  }

  host.addController({
    hostUpdate: () => {
      if (seen.isSeen === wasSeen) return
      wasSeen = seen.isSeen
      clearTimeout(timer)
      timer = wasSeen ? setTimeout(settle, settledMs) : setTimeout(end, keptMs)
    },
    hostDisconnected: () => {
      clearTimeout(timer)
      wasSeen = false
      end()
    }
  })
  return {
    get isOn() {
      return isOn
    }
  }
}
