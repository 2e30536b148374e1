import { cpuSeconds, endedChildrenSeconds } from './cpu.ts'

/**
 * Measures from now on; the function it gives prints how many cores each part of the program, and k6, kept
 * busy.
 */
export function watchCores(rootPid: number): () => void {
  const read = (): Record<string, number> => ({ ...cpuSeconds(rootPid), k6: endedChildrenSeconds() })
  const before = read()
  const fromMs = Date.now()
  return () => {
    const seconds = (Date.now() - fromMs) / 1_000
    const cores = Object.entries(read())
      .filter(([role]) => role !== 'other')
      .map(([role, cpu]) => `${role} ${((cpu - (before[role] ?? 0)) / seconds).toFixed(2)}`)
    console.log(`  cores in use: ${cores.join(', ')}`)
  }
}
