import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { expect, test as base, vi } from 'vitest'

import { findNode } from '../../scripts/find-node.mjs'

const unfit = { platform: 'linux', arch: 'x64', node: '24.21.0', glibc: '2.36' }

/** A cache folder of the test's own, and a program in the place of `npm`. */
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
    /** From now on `npm` is this shell script. */
    npm: async (script: string) => {
      await writeFile(join(folder, 'npm'), `#!/bin/sh\n${script}\n`)
      await chmod(join(folder, 'npm'), 0o755)
    },
    folder
  }
})

const fetching = 'fetching Node 22 from npm'

test('a Node with a binding is taken as it is', ({ machine }) => {
  const node = machine.find({ ...unfit, node: '22.1.0' })
  expect(node).toEqual({ path: process.execPath, version: '22.1.0', env: process.env })
  expect(machine.lines).toEqual([])
})

test('without one Node 22 is fetched from npm once, and comes first on the path', async ({ machine }) => {
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

test('where npm cannot fetch it, one line says what to install', async ({ machine }) => {
  await machine.npm(
    'echo "npm warn something" >&2; echo "npm error code ENOTFOUND" >&2; echo "npm error more" >&2; exit 1'
  )
  expect(machine.find(unfit)).toBeNull()
  expect(machine.lines).toEqual([
    fetching,
    'uWebSockets.js has no binary for Node 24 and glibc 2.36: install Node 22, or a Linux with glibc 2.38 (Debian 13, Ubuntu 24.04) (it could not be fetched from npm: code ENOTFOUND; more)'
  ])
})

test('another Node than was asked for is neither taken nor remembered', async ({ machine }) => {
  const other = join(machine.folder, 'other/bin/node')
  await mkdir(dirname(other), { recursive: true })
  await writeFile(other, '')
  // npm 12 does so where it may not run the script that puts Node 22 in place.
  await machine.npm(`echo '{"path":"${other}","version":"24.21.0"}'`)
  expect(machine.find(unfit)).toBeNull()
  expect(machine.lines.at(-1)).toMatch('(it could not be fetched from npm: npm ran Node 24.21.0 instead)')
  const memory = join(machine.folder, 'cache/cuewire/node-22.json')
  await mkdir(dirname(memory), { recursive: true })
  await writeFile(memory, JSON.stringify({ path: other, version: '24.21.0' }))
  await machine.npm(`echo '{"path":"${other}","version":"22.23.3"}'`)
  expect(machine.find(unfit)).toMatchObject({ version: '22.23.3' })
})

test('where no Node has one, nothing is fetched', async ({ machine }) => {
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
