import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

/** A client of AzuraCast, unmodified, and the program beside this file that calls all its methods. */
export interface Client {
  readonly name: string
  readonly version: string
  readonly license: string
  /** Installs it into a folder. Returns the command that calls its methods, with more variables. */
  readonly install: (folder: string, mirrors: string) => Installed
}

export interface Installed {
  readonly command: readonly [string, ...string[]]
  readonly env: Readonly<Record<string, string>>
}

/** Programs are beside this file. */
const program = (name: string) => new URL(name, import.meta.url).pathname

export const clients: readonly Client[] = [
  {
    name: 'AzuracastPy (PyPI)',
    version: '0.0.2',
    license: 'AGPL-3.0',
    install(folder) {
      const environment = join(folder, 'azuracastpy')
      execFileSync('python3', ['-m', 'venv', environment])
      execFileSync(join(environment, 'bin/pip'), ['install', '--quiet', 'AzuracastPy==0.0.2'])
      return { command: [join(environment, 'bin/python'), program('azuracastpy.py')], env: {} }
    }
  },
  {
    name: 'azuracast/php-api-client (Packagist, GitHub)',
    version: '4232b88aedcc',
    license: 'Apache-2.0',
    install: (folder, mirrors) => ({
      command: ['php', program('php-api-client.php')],
      env: { CLIENT: checkOut(mirrors, 'AzuraCast/php-api-client', '4232b88aedcc', folder) }
    })
  },
  {
    name: 'lexiandev/azuracast-php-api-client (Packagist, GitHub), generated from the OpenAPI document',
    version: '2.0.1 (466107643904)',
    license: 'none stated',
    install: (folder, mirrors) => ({
      command: ['php', program('php-generated-client.php')],
      env: { CLIENT: checkOut(mirrors, 'Lexian-droid/azuracast-php-api-client', '466107643904', folder) }
    })
  },
  {
    name: 'AzuraCast.js (GitHub)',
    version: '0.3.0-alpha.1 (9463c694c8e0)',
    license: 'MIT',
    install(folder, mirrors) {
      const source = checkOut(mirrors, '6gh/AzuraCast.js', '9463c694c8e0', folder)
      const built = join(folder, 'azuracast-js.mjs')
      execFileSync('node_modules/.bin/esbuild', [
        join(source, 'src/index.ts'),
        '--bundle',
        '--format=esm',
        '--platform=node',
        '--log-level=error',
        `--outfile=${built}`
      ])
      return { command: [process.execPath, program('azuracast-js.mjs')], env: { CLIENT: built } }
    }
  }
]

/** Copies a commit of a repository out of its clone (`Owner+name` or `Owner+name/repo` in the folder of clones). */
function checkOut(mirrors: string, repository: string, commit: string, folder: string): string {
  const clone = join(mirrors, repository.replace('/', '+'))
  const gitFolder = existsSync(join(clone, 'repo')) ? join(clone, 'repo') : clone
  const target = join(folder, repository.replace('/', '-'))
  mkdirSync(target)
  const archive = execFileSync('git', ['-C', gitFolder, 'archive', commit], { maxBuffer: 64 * 1024 * 1024 })
  execFileSync('tar', ['-x', '-C', target], { input: archive })
  return target
}
