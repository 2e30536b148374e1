import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/**
 * Programs that some tests need. If one is missing, its tests are skipped, and this returns the reason, which
 * is printed; otherwise null.
 */
export function whyWithout(
  program:
    | 'python'
    | 'requests'
    | 'sseclient'
    | 'nginx'
    | 'caddy'
    | 'systemd'
    | 'kubernetes-validate'
    | 'chromium'
    | 'icecast'
    | 'liquidsoap'
    | 'ffmpeg'
    | 'apt'
    | 'mariadb'
    | 'prometheus'
    | 'pgbouncer'
): string | null {
  const reason = lacks[program]()
  if (reason !== null) process.stdout.write(`skipped: ${reason}\n`)
  return reason
}

export const python = '/usr/bin/python3'
export const nginx = '/usr/sbin/nginx'
export const caddy = '/usr/bin/caddy'
export const systemdAnalyze = '/usr/bin/systemd-analyze'
/** Debian's `chromium-headless-shell` has no windows, and takes half the CPU time of `chromium`. */
export const chromium = existsSync('/usr/bin/chromium-headless-shell')
  ? '/usr/bin/chromium-headless-shell'
  : '/usr/bin/chromium'
export const icecast = process.env['ICECAST'] || '/usr/bin/icecast2'
/** A wrapper may run the one of another system (test/by-hand/radio-matrix). */
export const liquidsoap = process.env['LIQUIDSOAP'] || '/usr/bin/liquidsoap'
export const ffmpeg = '/usr/bin/ffmpeg'
export const prometheus = '/usr/bin/prometheus'
export const mariadbd = '/usr/sbin/mariadbd'
export const pgbouncer = '/usr/sbin/pgbouncer'

const lacksModule = (name: string, source: string) => (): string | null => {
  if (!existsSync(python)) return `there is no ${python}`
  return canRun(python, ['-c', `import ${name}`]) ? null : `${python} has no package ${name} (${source})`
}

const lacksValidator = (): string | null =>
  canRun('kubernetes-validate', ['--version'])
    ? null
    : 'there is no kubernetes-validate (the package of this name on PyPI)'

function canRun(program: string, args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore', timeout: 10_000 })
    return true
  } catch {
    return false
  }
}

const lacksFile = (path: string, name: string) => () =>
  existsSync(path) ? null : `there is no ${path} (${name})`

const lacks = {
  python: lacksModule('websockets', 'python3-websockets'),
  requests: lacksModule('requests', 'python3-requests'),
  sseclient: lacksModule('sseclient', 'sseclient-py on PyPI: set PYTHONPATH'),
  nginx: lacksFile(nginx, 'nginx'),
  caddy: lacksFile(caddy, 'caddy'),
  systemd: lacksFile(systemdAnalyze, 'systemd'),
  'kubernetes-validate': lacksValidator,
  chromium: lacksFile(chromium, 'chromium'),
  icecast: lacksFile(icecast, 'icecast2'),
  liquidsoap: lacksFile(liquidsoap, 'liquidsoap'),
  ffmpeg: lacksFile(ffmpeg, 'ffmpeg'),
  apt: lacksFile('/usr/bin/apt-get', 'apt'),
  mariadb: lacksFile(mariadbd, 'mariadb-server'),
  prometheus: lacksFile(prometheus, 'prometheus'),
  pgbouncer: lacksFile(pgbouncer, 'pgbouncer')
}
