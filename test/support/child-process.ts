import { execFile, spawn } from 'node:child_process'
import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** Runs a TypeScript file of this folder in a child process, which is killed on disposal. */
export function runScript(
  name: string,
  args: string[],
  options: Pick<SpawnOptions, 'uid' | 'gid' | 'env'> = {}
): { child: ChildProcess; firstLine: Promise<unknown> } & Disposable {
  const file = fileURLToPath(new URL(name, import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', file, ...args], {
    ...options,
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const firstLine = new Promise<unknown>((resolve, reject) => {
    createInterface(child.stdout).once('line', line => resolve(JSON.parse(line)))
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`${name} ended without a word`)))
  })
  return { child, firstLine, [Symbol.dispose]: () => void child.kill('SIGKILL') }
}

/** The pid of the parent of a process. */
export async function parentOf(pid: number): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'ppid=', '-p', String(pid)])
  return Number(stdout)
}

/** The pids of the children of a process. */
export async function childrenOf(pid: number): Promise<number[]> {
  return (await allProcesses()).filter(({ parent }) => parent === pid).map(child => child.pid)
}

/** A row of `ps`. */
export interface ProcessRow {
  readonly pid: number
  readonly parent: number
  readonly command: string
}

/** All descendants of a process, nearest first. */
export async function descendantsOf(pid: number): Promise<ProcessRow[]> {
  const all = await allProcesses()
  const found: ProcessRow[] = []
  for (let parents = [pid]; parents.length > 0;) {
    const children = all.filter(({ parent }) => parents.includes(parent))
    found.push(...children)
    parents = children.map(child => child.pid)
  }
  return found
}

/** The `ps` output of this machine. */
export async function allProcesses(): Promise<ProcessRow[]> {
  const { stdout } = await promisify(execFile)('ps', ['-ww', '-A', '-o', 'pid=,ppid=,command='], {
    maxBuffer: 16 * 1024 * 1024
  })
  return stdout.split('\n').flatMap(line => {
    const [, pid, parent, command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), command }]
  })
}
