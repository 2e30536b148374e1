/** Calls a function when the network is back and when the page is shown again. Returns a function that ends it. */
export function wakeWithPage(wake: () => void): () => void {
  const onShown = () => {
    if (!document.hidden) wake()
  }
  addEventListener('online', wake)
  addEventListener('pageshow', wake)
  document.addEventListener('visibilitychange', onShown)
  return () => {
    removeEventListener('online', wake)
    removeEventListener('pageshow', wake)
    document.removeEventListener('visibilitychange', onShown)
  }
}
