import { execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'

import { OperatorError } from '../errors.ts'

const installMs = 10 * 60_000

interface Manager {
  program: string
  /** For the person at the terminal. */
  command: string
  /** For `sh -c`; leaves no system-wide server running or enabled, as there was none before. */
  script: string
}

// Debian's package starts its server at once and at every boot. While policy-rc.d says 101, nothing is started.
const aptScript = `
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 1' HUP INT TERM
  printf '#!/bin/sh\\nexit 101\\n' >"$policy" && chmod 755 "$policy" || exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update && apt-get install -y --no-install-recommends redis-server || exit 1
if command -v systemctl >/dev/null; then systemctl disable redis-server.service || true
elif command -v update-rc.d >/dev/null; then update-rc.d redis-server disable || true; fi
`

const linuxManagers: readonly Manager[] = [
  { program: 'apt-get', command: 'apt-get install -y redis-server', script: aptScript },
  either('dnf', 'dnf install -y', ['valkey', 'redis']),
  either('apk', 'apk add', ['valkey', 'redis']),
  either('pacman', 'pacman -S --needed --noconfirm', ['valkey', 'redis']),
  either('zypper', 'zypper --non-interactive install', ['valkey', 'redis7', 'redis'])
]
const brew = either('brew', 'brew install', ['redis'])

/**
 * Installs a Redis by the system's package manager, where that asks for no password: as root, with `sudo -n`, or
 * by Homebrew. What the package manager writes goes to stderr. Throws an `OperatorError` with the command to type
 * where it cannot.
 */
export async function installRedis(): Promise<void> {
  const isMac = process.platform === 'darwin'
  const manager = await firstOf(isMac ? [brew] : linuxManagers)
  if (!manager) {
    throw new OperatorError(
      'there is no redis-server: install Redis 7 or Valkey 7 (or newer), or set REDIS_URL'
    )
  }
  const isRoot = process.getuid?.() === 0
  // Homebrew refuses to be root and needs no rights.
  const withRights = isMac ? !isRoot : isRoot || (await succeeds('sudo', ['-n', 'true']))
  const byHand = `${isMac || isRoot ? '' : 'sudo '}${manager.command}`
  const advice = `run ${byHand} and start again, or set REDIS_URL`
  if (!withRights) throw new OperatorError(`there is no redis-server: ${advice}`)

  const shell = ['sh', '-c', manager.script]
  const words = isMac || isRoot ? shell : ['sudo', '-n', ...shell]
  process.stderr.write(`cuewire: there is no redis-server; installing one (${byHand})\n`)
  const child = spawn(words[0] ?? 'sh', words.slice(1), { stdio: ['ignore', 2, 2], timeout: installMs })
  const code = await new Promise<number | string | null>(resolve => {
    child.once('error', error => resolve(error.message))
    child.once('exit', resolve)
  })
  if (code !== 0)
    throw new OperatorError(`installing Redis failed (${code ?? 'it took too long'}): ${advice}`)
}

function either(program: string, install: string, packages: readonly [string, ...string[]]): Manager {
  return {
    program,
    command: `${install} ${packages[0]}`,
    script: packages.map(name => `${install} ${name}`).join(' || ')
  }
}

async function firstOf(managers: readonly Manager[]): Promise<Manager | undefined> {
  for (const manager of managers) {
    if (await succeeds('sh', ['-c', `command -v ${manager.program}`])) return manager
  }
  return undefined
}

async function succeeds(program: string, args: string[]): Promise<boolean> {
  return promisify(execFile)(program, args, { timeout: 10_000 }).then(
    () => true,
    () => false
  )
}
