import { readCpuByRole, readEndedChildrenCpu } from './cpu.ts'

/**
 * Starts measuring CPU time. The returned function prints the average number of cores that each process of
 * the program and k6 used since then.
 */
export function measureCores(rootPid: number): () => void {
  const read = (): Record<string, number> => ({ ...readCpuByRole(rootPid), k6: readEndedChildrenCpu() })
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
