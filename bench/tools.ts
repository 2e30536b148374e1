import { accessSync, constants } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

/** Exit code of a bench that could not run all it was asked for. */
const notRunCode = 3

const goFolder = join(homedir(), 'go', 'bin')
const moduleFolders = ['/usr/lib/nginx/modules', '/usr/lib64/nginx/modules']

const tools = {
  k6: { file: 'k6', how: 'go install go.k6.io/k6/v2@v2.2.0' },
  centrifugo: {
    file: 'centrifugo',
    how: 'go install github.com/centrifugal/centrifugo/v6@v6.9.1 (or version 5, see bench/README.md)'
  },
  nginx: { file: 'nginx', how: 'apt-get install nginx-light' },
  nchan: { file: 'ngx_nchan_module.so', how: 'apt-get install libnginx-mod-nchan' },
  wrk: { file: 'wrk', how: 'apt-get install wrk' }
} as const

export type Tool = keyof typeof tools

/**
 * Where a tool is: named by the variable of its name in capitals, or found on the PATH, in Go's folder or, a
 * module of nginx, in the folder of those. Without it the answer is null, and the way to get it is told;
 * `what` is left undone, which the exit code says.
 */
export function findTool(name: Tool, what: string): string | null {
  const { file, how } = tools[name]
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), goFolder, '/usr/sbin', ...moduleFolders]
  const named = process.env[name.toUpperCase()]
  const paths = named === undefined ? folders.map(folder => join(folder, file)) : [named]
  const found = paths.find(isThere)
  if (found !== undefined) return found
  console.error(`NOT RUN: ${what}, because ${name} is missing. Get it with: ${how}`)
  process.exitCode = notRunCode
  return null
}

function isThere(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}
