import { spawn } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'

// sbin is not in the PATH of an ordinary user.
const folders = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/sbin', '/sbin']
const installMs = 5 * 60_000

// One at a time, because two test files may install it. The Debian package starts its server at once and at
// every boot, unless policy-rc.d exits with 101.
const script = `
exec 9>/tmp/cuewire-test-sshd.lock
flock 9
if [ -x /usr/sbin/sshd ]; then exit 0; fi
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 1' HUP INT TERM
  printf '#!/bin/sh\\nexit 101\\n' >"$policy" && chmod 755 "$policy" || exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update && apt-get install -y --no-install-recommends openssh-server || exit 1
if command -v systemctl >/dev/null; then systemctl disable ssh.service ssh.socket || true
elif command -v update-rc.d >/dev/null; then update-rc.d ssh disable || true; fi
`

/**
 * The absolute path of OpenSSH's sshd. If it is missing, it is installed with apt-get, as root or with `sudo
 * -n`; the output goes to stderr. Throws an error with the command to run if that fails.
 */
export async function findSshd(): Promise<string> {
  const there = await find()
  if (there !== undefined) return there
  const words = process.getuid?.() === 0 ? ['sh', '-c', script] : ['sudo', '-n', 'sh', '-c', script]
  process.stderr.write('tests: there is no sshd; installing one (apt-get install openssh-server)\n')
  const child = spawn(words[0] ?? '', words.slice(1), { stdio: ['ignore', 2, 2], timeout: installMs })
  const end = await new Promise<number | string | null>(resolve => {
    child.once('error', error => resolve(error.message))
    child.once('exit', resolve)
  })
  const installed = await find()
  if (installed !== undefined) return installed
  throw new Error(
    `the tests need OpenSSH's sshd and could not install it (${end ?? 'it took too long'}): ` +
      'run sudo apt-get install openssh-server, or what your system has instead, and test again'
  )
}

async function find(): Promise<string | undefined> {
  const own = (process.env['PATH'] ?? '').split(':').filter(Boolean)
  for (const path of [...own, ...folders].map(folder => join(folder, 'sshd'))) {
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false
    )
    if (isThere) return path
  }
  return undefined
}
