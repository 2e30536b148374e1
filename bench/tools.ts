import { accessSync, constants } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

/** Exit code of a benchmark that skipped a part because a tool is missing. */
const skippedCode = 3

const goFolder = join(homedir(), 'go', 'bin')
const moduleFolders = ['/usr/lib/nginx/modules', '/usr/lib64/nginx/modules']

const tools = {
  k6: { file: 'k6', install: 'go install go.k6.io/k6/v2@v2.2.0' },
  centrifugo: {
    file: 'centrifugo',
    install: 'go install github.com/centrifugal/centrifugo/v6@v6.9.1 (or version 5, see bench/README.md)'
  },
  nginx: { file: 'nginx', install: 'apt-get install nginx-light' },
  nchan: { file: 'ngx_nchan_module.so', install: 'apt-get install libnginx-mod-nchan' },
  wrk: { file: 'wrk', install: 'apt-get install wrk' }
} as const

export type Tool = keyof typeof tools

/**
 * Returns the path of a tool: the value of the variable with its name in capitals, or the first match in the
 * `PATH`, the folder of Go and the module folders of nginx. If the tool is missing, prints how to install it,
 * sets the exit code to 3 and returns null. `part` names what is skipped.
 */
export function findTool(name: Tool, part: string): string | null {
  const { file, install } = tools[name]
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), goFolder, '/usr/sbin', ...moduleFolders]
  const configured = process.env[name.toUpperCase()]
  const paths = configured === undefined ? folders.map(folder => join(folder, file)) : [configured]
  const found = paths.find(isReadable)
  if (found !== undefined) return found
  console.error(`SKIPPED: ${part}: ${name} is not installed. Install it with: ${install}`)
  process.exitCode = skippedCode
  return null
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}
