/** Milliseconds on the clock that all processes of this machine share. */
export function nowMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1_000 + nanoseconds / 1e6
}
