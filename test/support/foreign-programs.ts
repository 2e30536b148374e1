import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/**
 * Programs of the machine that some tests need. Where one is missing its tests are skipped, and what this gives is
 * printed as the reason; else it gives null.
 */
export function whyWithout(program: 'python' | 'nginx' | 'chromium'): string | null {
  const reason = { python: lacksPython, nginx: lacksNginx, chromium: lacksChromium }[program]()
  if (reason !== null) process.stdout.write(`skipped: ${reason}\n`)
  return reason
}

export const python = '/usr/bin/python3'
export const nginx = '/usr/sbin/nginx'
export const chromium = '/usr/bin/chromium'

function lacksPython(): string | null {
  if (!existsSync(python)) return `there is no ${python}`
  try {
    execFileSync(python, ['-c', 'import websockets'], { stdio: 'ignore', timeout: 10_000 })
    return null
  } catch {
    return `${python} has no package websockets (python3-websockets)`
  }
}

const lacksNginx = () => (existsSync(nginx) ? null : `there is no ${nginx}`)
const lacksChromium = () => (existsSync(chromium) ? null : `there is no ${chromium}`)
