import { readdirSync, readFileSync } from 'node:fs'

interface Row {
  readonly pid: number
  readonly parent: number
  readonly seconds: number
}

/** CPU seconds of a process, its ended children, and all its descendants. Linux only. */
export function cpuOfTree(root: number): number {
  return treeOf(root).reduce((sum, { seconds }) => sum + seconds, 0)
}

/** CPU seconds of a process itself, and of the tree of each child that runs, under its command line. Linux only. */
export function cpuByChild(root: number): readonly { readonly command: string; readonly seconds: number }[] {
  const tree = treeOf(root)
  const own = tree.filter(({ pid }) => pid === root)
  const children = tree.filter(({ parent }) => parent === root)
  return [
    ...own.map(({ seconds }) => ({ command: 'itself', seconds })),
    ...children.map(({ pid }) => ({ command: commandOf(pid), seconds: cpuOfTree(pid) }))
  ]
}

function treeOf(root: number): readonly Row[] {
  const rows = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(readStat)
  const tree = new Set([root])
  for (let size = 0; size !== tree.size;) {
    size = tree.size
    for (const { pid, parent } of rows) if (tree.has(parent)) tree.add(pid)
  }
  return rows.filter(({ pid }) => tree.has(pid))
}

function commandOf(pid: number): string {
  return (readOrNull(`/proc/${pid}/cmdline`) ?? '').split('\0').slice(0, 3).join(' ')
}

function readStat(pid: string): Row[] {
  const text = readOrNull(`/proc/${pid}/stat`)
  if (text === null) return []
  // The name of the program, in parentheses, may contain anything.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const [, parent = 0] = fields
  // User and system time, also of ended children, in hundredths of a second.
  const ticks = fields.slice(11, 15).reduce((sum, value) => sum + value, 0)
  return [{ pid: Number(pid), parent, seconds: ticks / 100 }]
}

/** Null if the process has ended. */
function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
