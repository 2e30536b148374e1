import { type ChildProcess, spawn, spawnSync } from 'node:child_process'

import { killOnExit } from '../children.ts'

/** A network namespace that stands for a machine. */
export interface Machine {
  readonly name: string
  readonly address: string
  /** Starts a program on it, which gets SIGTERM when this process exits. */
  readonly start: (command: readonly string[], env?: Readonly<Record<string, string>>) => ChildProcess
  /** Kills all its programs by SIGKILL. */
  readonly kill: () => void
}

export interface Network extends Disposable {
  readonly addMachine: (name: string) => Machine
}

/**
 * Opens a bridge to which machines are connected. This process has the first address of its network. Needs
 * root and the command `ip`. Throws if it cannot be created.
 */
export function openNetwork(): Network {
  const id = process.pid % 100_000
  const bridge = `cwb${id}`
  const prefix = `10.203.${process.pid % 250}`
  const namespaces: string[] = []
  const close = () => {
    for (const name of namespaces) {
      killAll(name)
      spawnSync('ip', ['netns', 'del', name])
    }
    spawnSync('ip', ['link', 'del', bridge])
  }
  process.once('exit', close)
  ip('link', 'add', bridge, 'type', 'bridge')
  ip('addr', 'add', `${prefix}.1/24`, 'dev', bridge)
  ip('link', 'set', bridge, 'up')
  return {
    addMachine: name => {
      const number = namespaces.length + 2
      const namespace = `cuewire-${id}-${name.replace(' ', '-')}`
      const cable = `cwv${id}n${number}`
      const address = `${prefix}.${number}`
      ip('netns', 'add', namespace)
      namespaces.push(namespace)
      ip('link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace)
      ip('link', 'set', cable, 'master', bridge, 'up')
      ip('-n', namespace, 'addr', 'add', `${address}/24`, 'dev', 'eth0')
      ip('-n', namespace, 'link', 'set', 'eth0', 'up')
      ip('-n', namespace, 'link', 'set', 'lo', 'up')
      return {
        name,
        address,
        start: (command, env = {}) => {
          const child = spawn('ip', ['netns', 'exec', namespace, ...command], {
            env: { ...process.env, ...env },
            stdio: ['ignore', 'pipe', 'inherit']
          })
          killOnExit(child)
          return child
        },
        kill: () => killAll(namespace)
      }
    },
    [Symbol.dispose]: () => {
      process.off('exit', close)
      close()
    }
  }
}

function killAll(namespace: string): void {
  const { stdout } = spawnSync('ip', ['netns', 'pids', namespace], { encoding: 'utf8' })
  for (const pid of stdout.split('\n').filter(line => line !== '')) {
    try {
      process.kill(Number(pid), 'SIGKILL')
    } catch {
      // It has exited.
    }
  }
}

function ip(...args: readonly string[]): void {
  const { status, stderr } = spawnSync('ip', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`ip ${args.join(' ')} failed; it needs root: ${stderr}`)
}
