import type { ReactiveControllerHost } from 'lit'

/** Whether an element is, or is about to be, in sight. Draws it again when that changes. */
export function seenFor(host: ReactiveControllerHost & Element): { readonly isSeen: boolean } {
  let isSeen = false
  const observer = new IntersectionObserver(
    entries => {
      isSeen = entries.at(-1)?.isIntersecting ?? false
      host.requestUpdate()
    },
    { rootMargin: '200px' }
  )
  host.addController({
    hostConnected: () => observer.observe(host),
    hostDisconnected: () => observer.disconnect()
  })
  return {
    get isSeen() {
      return isSeen
    }
  }
}
