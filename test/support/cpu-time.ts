/**
 * The CPU time of this process in milliseconds. Unlike a clock, it does not advance while other processes use
 * the machine.
 */
export function cpuTimeMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
