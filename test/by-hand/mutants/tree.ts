import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const project = fileURLToPath(new URL('../../..', import.meta.url))

/** A copy of the project in a separate folder, which is removed on disposal. */
export interface Tree extends Disposable {
  readonly root: string
  /** The text of each TypeScript file by its path from the root. */
  readonly files: ReadonlyMap<string, string>
}

/** Copies the committed project. The copy shares `node_modules` with this folder. */
export function copyTree(commit: string): Tree {
  const root = mkdtempSync(join(tmpdir(), 'cuewire-mutants-'))
  // Servers that tests start as other users read from it.
  chmodSync(root, 0o755)
  const archive = execFileSync('git', ['archive', '--format=tar', commit], {
    cwd: project,
    maxBuffer: 256 * 1024 * 1024
  })
  execFileSync('tar', ['-x', '-C', root], { input: archive })
  symlinkSync(join(project, 'node_modules'), join(root, 'node_modules'))
  const listing = execFileSync('git', ['ls-tree', '-r', '--name-only', '-z', commit], {
    cwd: project,
    encoding: 'utf8'
  })
  const paths = listing.split('\0').filter(path => /^(src|web|workers|test)\/.*\.ts$/.test(path))
  const remove = () => rmSync(root, { recursive: true, force: true })
  process.once('exit', remove)
  return {
    root,
    files: new Map(paths.map(path => [path, readFileSync(join(root, path), 'utf8')])),
    [Symbol.dispose]: () => {
      process.off('exit', remove)
      remove()
    }
  }
}
