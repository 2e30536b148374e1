import { readProcessTree, type RunningProcess } from './process-tree.ts'

const cpuOf = (sum: number, { seconds, endedSeconds }: RunningProcess) => sum + seconds + endedSeconds

/** CPU seconds of a process, its ended children, and all its descendants. Linux only. */
export function cpuOfTree(root: number): number {
  return readProcessTree(root).reduce(cpuOf, 0)
}

/** CPU seconds of a process itself, and of the tree of each child that runs, under its command line. Linux only. */
export function cpuByChild(root: number): readonly { readonly command: string; readonly seconds: number }[] {
  const tree = readProcessTree(root)
  const own = tree.filter(({ pid }) => pid === root)
  const children = tree.filter(({ parent }) => parent === root)
  return [
    { command: 'itself', seconds: own.reduce(cpuOf, 0) },
    ...children.map(({ pid, command }) => ({
      command: command.split('\0').slice(0, 3).join(' '),
      seconds: cpuOfTree(pid)
    }))
  ]
}
