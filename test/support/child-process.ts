import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** Runs a TypeScript file beside this one as a process of its own; killed when it is disposed. */
export function runScript(
  name: string,
  args: string[]
): { child: ChildProcess; firstLine: Promise<unknown> } & Disposable {
  const file = fileURLToPath(new URL(name, import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', file, ...args], {
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
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid='])
  const pairs = stdout.split('\n').map(line => line.trim().split(/\s+/).map(Number))
  return pairs.flatMap(([child, parent]) => (parent === pid && child !== undefined ? [child] : []))
}
