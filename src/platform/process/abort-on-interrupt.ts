/** The first Ctrl-C ends the command after its batch; another one more than a second later exits at once. */
export function abortOnInterrupt(): AbortSignal {
  const abort = new AbortController()
  let firstAt = 0
  const interrupt = () => {
    if (abort.signal.aborted && performance.now() - firstAt > 1_000) process.exit(130)
    if (!abort.signal.aborted) firstAt = performance.now()
    abort.abort()
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, interrupt)
  // The channel to the parent script closes when that ends, even if it is killed.
  process.on('disconnect', interrupt)
  process.channel?.unref()
  return abort.signal
}
