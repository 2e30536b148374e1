import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { expect, test as base, vi } from 'vitest'

import { findNode } from '../../../scripts/find-node.mjs'

const unfit = { platform: 'linux', arch: 'x64', node: '24.21.0', glibc: '2.36' }

/** An own cache folder and a replacement for `npm`. */
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
  const lines: string[] = []
  return {
    lines,
    find: (platform: typeof unfit) => findNode(platform, line => void lines.push(line)),
    /** Replaces `npm` with this shell script. */
    npm: async (script: string) => {
      await writeFile(join(folder, 'npm'), `#!/bin/sh\n${script}\n`)
      await chmod(join(folder, 'npm'), 0o755)
    },
    folder
  }
})

const fetching = 'downloading Node 22 from npm'

test('a Node with a binding is used', ({ machine }) => {
  const node = machine.find({ ...unfit, node: '22.1.0' })
  expect(node).toEqual({ path: process.execPath, version: '22.1.0', env: process.env })
  expect(machine.lines).toEqual([])
})

test('without one Node 22 is downloaded from npm once and comes first in PATH', async ({ machine }) => {
  const other = join(machine.folder, 'other/bin/node')
  await mkdir(dirname(other), { recursive: true })
  await writeFile(other, '')
  await machine.npm(`[ "$*" = "exec --yes --allow-scripts=node --fetch-retries=1 --package node@22 --call $8" ] || exit 9
    [ -z "$(ls -A)" ] || exit 8
    echo '{"path":"${other}","version":"22.23.3"}'`)
  const line = 'uWebSockets.js has no binary for Node 24 and glibc 2.36; running under Node 22.23.3 from npm'
  const expected = { path: other, version: '22.23.3' }
  const first = machine.find(unfit)
  expect(first).toMatchObject(expected)
  expect(first?.env['PATH']?.split(':')[0]).toBe(dirname(other))
  await machine.npm('exit 1')
  expect(machine.find(unfit)).toMatchObject(expected)
  expect(machine.lines).toEqual([fetching, line, line])
  await rm(other)
  expect(machine.find(unfit)).toBeNull()
})

test('if npm cannot download it, one line explains what to install', async ({ machine }) => {
  await machine.npm(
    'echo "npm warn something" >&2; echo "npm error code ENOTFOUND" >&2; echo "npm error more" >&2; exit 1'
  )
  expect(machine.find(unfit)).toBeNull()
  expect(machine.lines).toEqual([
    fetching,
    'uWebSockets.js has no binary for Node 24 and glibc 2.36: install Node 22, or a Linux with glibc 2.38 (Debian 13, Ubuntu 24.04) (it could not be downloaded from npm: code ENOTFOUND; more)'
  ])
})

test('another version than requested is neither used nor cached', async ({ machine }) => {
  const other = join(machine.folder, 'other/bin/node')
  await mkdir(dirname(other), { recursive: true })
  await writeFile(other, '')
  // npm 12 does so if the install script of the package is not allowed.
  await machine.npm(`echo '{"path":"${other}","version":"24.21.0"}'`)
  expect(machine.find(unfit)).toBeNull()
  expect(machine.lines.at(-1)).toMatch('(it could not be downloaded from npm: npm ran Node 24.21.0 instead)')
  const memory = join(machine.folder, 'cache/cuewire/node-22.json')
  await mkdir(dirname(memory), { recursive: true })
  await writeFile(memory, JSON.stringify({ path: other, version: '24.21.0' }))
  await machine.npm(`echo '{"path":"${other}","version":"22.23.3"}'`)
  expect(machine.find(unfit)).toMatchObject({ version: '22.23.3' })
})

test('if no Node version has a binding, nothing is downloaded', async ({ machine }) => {
  await machine.npm('exit 9')
  expect(machine.find({ ...unfit, glibc: '' })).toBeNull()
  expect(machine.lines).toEqual([expect.stringContaining('musl')])
})

test('a Node that is too old is replaced as well', async ({ machine }) => {
  await machine.npm(`echo '{"path":"/other/node","version":"22.23.3"}'`)
  expect(machine.find({ ...unfit, node: '18.20.0', glibc: '2.41' })).toMatchObject({ path: '/other/node' })
  expect(machine.lines).toEqual([
    fetching,
    'Node 18.20.0 is older than 20.19; running under Node 22.23.3 from npm'
  ])
})
