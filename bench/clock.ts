/** Monotonic time in milliseconds, comparable between all processes of this machine. */
export function nowMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1_000 + nanoseconds / 1e6
}
