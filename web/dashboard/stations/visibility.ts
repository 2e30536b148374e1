import type { ReactiveControllerHost } from 'lit'

import { openSemaphore } from './semaphore.ts'

/** Tracks whether an element is within 200 pixels of the viewport. The host is updated after a change. */
export function watchVisibility(host: ReactiveControllerHost & Element): { readonly isVisible: boolean } {
  const visibility = { isVisible: false }
  const observer = new IntersectionObserver(
    entries => {
      visibility.isVisible = entries.at(-1)?.isIntersecting ?? false
      host.requestUpdate()
    },
    { rootMargin: '200px' }
  )
  host.addController({
    hostConnected: () => observer.observe(host),
    hostDisconnected: () => observer.disconnect()
  })
  return visibility
}

/** An element must be visible for this long before it gets a slot, and keeps the slot for a while after. */
const acquireDelayMs = 300
const releaseDelayMs = 5_000
/** Each followed station takes a connection. */
const followPermits = openSemaphore(24)

/** Limits how many visible elements follow a station. The host is updated when it gets or loses a slot. */
export function openFollowPermit(host: ReactiveControllerHost & Element): { readonly hasSlot: boolean } {
  const visibility = watchVisibility(host)
  const slot = { hasSlot: false }
  let wasVisible = false
  let release: (() => void) | null = null
  let timer: ReturnType<typeof setTimeout> | undefined

  function acquirePermit(): void {
    release ??= followPermits.acquire(() => {
      slot.hasSlot = true
      host.requestUpdate()
    })
  }

  function releasePermit(): void {
    slot.hasSlot = false
    release?.()
    release = null
    host.requestUpdate()
  }

  host.addController({
    hostUpdate: () => {
      if (visibility.isVisible === wasVisible) return
      wasVisible = visibility.isVisible
      clearTimeout(timer)
      timer = wasVisible
        ? setTimeout(acquirePermit, acquireDelayMs)
        : setTimeout(releasePermit, releaseDelayMs)
    },
    hostDisconnected: () => {
      clearTimeout(timer)
      wasVisible = false
      releasePermit()
    }
  })
  return slot
}
