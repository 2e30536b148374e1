const name = 'cuewire-server-turned'

/** Tells that the server does not answer any more, or does again. */
export function announceServerChange(isThere: boolean): void {
  document.dispatchEvent(new CustomEvent(name, { detail: isThere }))
}

/** Hears of that until the function it gives is called. */
export function onServerChange(hear: (isThere: boolean) => void): () => void {
  const listen = (event: Event) => {
    if (event instanceof CustomEvent) hear(event.detail === true)
  }
  document.addEventListener(name, listen)
  return () => document.removeEventListener(name, listen)
}
