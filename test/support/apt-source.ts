import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

/** A Debian package to build. */
export interface MadePackage {
  readonly name: string
  readonly version: string
  readonly depends?: string
  /** Text of executable files by their paths without a leading slash. */
  readonly files?: Readonly<Record<string, string>>
}

/** A package whose program prints this version of a server for `--version`. */
export function serverPackage(name: 'redis-server' | 'valkey-server', version: string): MadePackage {
  const program = `#!/bin/sh\necho "Server v=${version} sha=00000000:0 malloc=libc bits=64"\n`
  return { name, version, files: { [`usr/bin/${name}`]: program } }
}

/** Builds packages and an apt source in a folder. Returns the line for `sources.list`. */
export async function makeAptSource(folder: string, packages: readonly MadePackage[]): Promise<string> {
  await mkdir(folder, { recursive: true })
  const entries = []
  for (const each of packages) {
    const { name, version, depends, files = {} } = each
    const control = [
      `Package: ${name}`,
      `Version: ${version}`,
      'Architecture: all',
      'Maintainer: Test <test@example.com>',
      ...(depends ? [`Depends: ${depends}`] : []),
      'Description: made for a test'
    ]
    const content = join(folder, `${name}_content`)
    await write(join(content, 'DEBIAN/control'), `${control.join('\n')}\n`, 0o644)
    for (const [path, text] of Object.entries(files)) await write(join(content, path), text, 0o755)
    const file = `${name}_${version}_all.deb`
    await promisify(execFile)('dpkg-deb', ['--root-owner-group', '--build', content, join(folder, file)])
    const bytes = await readFile(join(folder, file))
    const hash = createHash('sha256').update(bytes).digest('hex')
    entries.push([...control, `Filename: ./${file}`, `Size: ${bytes.length}`, `SHA256: ${hash}`].join('\n'))
  }
  await writeFile(join(folder, 'Packages'), `${entries.join('\n\n')}\n`)
  return `deb [trusted=yes] file:${folder} ./`
}

/** Writes an apt configuration with only these sources. Returns its path, for `APT_CONFIG`. */
export async function writeAptConfig(folder: string, sources: readonly string[]): Promise<string> {
  const list = join(folder, 'sources.list')
  await write(list, `${sources.join('\n')}\n`, 0o644)
  const config = join(folder, 'apt.conf')
  const lines = [`Dir::Etc::sourcelist "${list}";`, 'Dir::Etc::sourceparts "/dev/null";']
  await write(config, `${lines.join('\n')}\n`, 0o644)
  return config
}

async function write(path: string, text: string, mode: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
  await chmod(path, mode)
}
