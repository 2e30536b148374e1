import { execFile, spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, test as base } from 'vitest'

import { waitFor } from '../support/wait.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** A clone in a folder with spaces, with installed packages. */
// oxlint-disable-next-line no-empty-pattern
const test = base.extend('clone', async ({}, { onCleanup }) => {
  const folder = await mkdtemp(join(tmpdir(), 'cuewire a clone '))
  onCleanup(async () => rm(folder, { recursive: true, force: true }))
  for (const name of ['package.json', 'package-lock.json', 'scripts']) {
    await cp(join(root, name), join(folder, name), { recursive: true })
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  await mkdir(join(folder, 'bench'))
  return folder
})

test('a file runs with its arguments in the project folder, and its exit code is returned', async ({
  clone
}) => {
  const text =
    'const words: string[] = process.argv.slice(2)\nconsole.log(JSON.stringify([words, process.cwd()]))\nprocess.exitCode = 5'
  await writeFile(join(clone, 'bench/entry.ts'), text)
  const run = promisify(execFile)(
    process.execPath,
    [join(clone, 'scripts/run.mjs'), 'bench/entry.ts', 'a b', 'c'],
    { cwd: '/' }
  )
  const failure: unknown = await run.then(
    () => undefined,
    error => error
  )
  expect(failure).toMatchObject({ code: 5, stderr: '' })
  expect(failure).toMatchObject({ stdout: expect.stringContaining('[["a b","c"],') })
  expect(failure).toMatchObject({ stdout: expect.stringContaining('cuewire a clone ') })
})

test('mismatching packages are reported, and nothing is installed through a link', async ({ clone }) => {
  const lock = join(clone, 'package-lock.json')
  await writeFile(lock, (await readFile(lock, 'utf8')).replaceAll('"version": "1', '"version": "999.1'))
  const run = promisify(execFile)(process.execPath, [join(clone, 'scripts/run.mjs'), 'bench/entry.ts'])
  await expect(run).rejects.toMatchObject({
    code: 1,
    stderr:
      'cuewire: packages do not match package-lock.json, and node_modules is a link: run npm ci where it leads\n'
  })
})

/** Installs an `npm` that links the packages of this project after a second. */
async function fakeNpm(clone: string): Promise<NodeJS.ProcessEnv> {
  const { npm_execpath: _npm, ...env } = process.env
  await rm(join(clone, 'node_modules'))
  const text = `#!/bin/sh
    echo begun >>npm.log
    sleep 1
    mkdir node_modules && ln -s "${root}"node_modules/* node_modules/ && cp "${root}"node_modules/.package-lock.json node_modules/
    echo ended >>npm.log`
  await mkdir(join(clone, 'programs'))
  await writeFile(join(clone, 'programs/npm'), text, { mode: 0o755 })
  await writeFile(join(clone, 'bench/entry.ts'), "console.log('up')")
  return { ...env, PATH: `${join(clone, 'programs')}:${env['PATH']}` }
}

test('of two concurrent starts one installs packages and the other waits', async ({ clone }) => {
  const env = await fakeNpm(clone)
  const start = () =>
    promisify(execFile)(process.execPath, [join(clone, 'scripts/run.mjs'), 'bench/entry.ts'], { env })
  // The lock of a killed process.
  await writeFile(join(clone, 'node_modules.lock'), '999999999')
  const runs = await Promise.all([start(), start(), start()])
  expect(runs.map(({ stdout }) => stdout)).toEqual(['up\n', 'up\n', 'up\n'])
  expect(await readFile(join(clone, 'npm.log'), 'utf8')).toBe('begun\nended\n')
  expect(await readdir(clone)).not.toContain('node_modules.lock')
})

test('stopping a start during the installation stops npm', async ({ clone }) => {
  const env = await fakeNpm(clone)
  // An old lock, whose pid was reused.
  const lock = join(clone, 'node_modules.lock')
  await writeFile(lock, String(process.pid))
  await utimes(lock, 1, 1)
  const child = spawn(process.execPath, [join(clone, 'scripts/run.mjs'), 'bench/entry.ts'], {
    env,
    stdio: 'ignore'
  })
  const isBegun = async () => (await readFile(join(clone, 'npm.log'), 'utf8').catch(() => '')) === 'begun\n'
  await waitFor(isBegun, { deadlineMs: 20_000, what: 'npm' })
  const exited = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGTERM')
  expect(await exited).toBe(143)
  expect(await readdir(clone)).not.toContain('node_modules.lock')
  expect(await readFile(join(clone, 'npm.log'), 'utf8')).toBe('begun\n')
})

test('tests have all packages', async ({ clone }) => {
  const args = [join(clone, 'scripts/run.mjs'), '--vitest', '--passWithNoTests', '--root', clone]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args)
  expect(stderr).not.toContain('npm ci')
  expect(stdout).toContain('No test files found')
})

test('a signal that arrives twice is forwarded once', async ({ clone }) => {
  const text = `
    let count = 0
    process.on('SIGINT', () => setTimeout(() => process.exit(count), 200) && count++)
    setInterval(() => {}, 1000)
    console.log('up')`
  await writeFile(join(clone, 'bench/entry.ts'), text)
  const child = spawn(process.execPath, [join(clone, 'scripts/run.mjs'), 'bench/entry.ts'], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  await new Promise(resolve => createInterface(child.stdout).once('line', resolve))
  const exited = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGINT')
  setTimeout(() => child.kill('SIGINT'), 50)
  expect(await exited).toBe(1)
})

test('the exit code of a killed program is 128 plus the signal', async ({ clone }) => {
  await writeFile(join(clone, 'bench/entry.ts'), "process.kill(process.pid, 'SIGKILL')")
  const run = promisify(execFile)(process.execPath, [join(clone, 'scripts/run.mjs'), 'bench/entry.ts'])
  await expect(run).rejects.toMatchObject({ code: 137 })
})

test('the channel of a program closes when its runner is killed', async ({ clone }) => {
  const text = "process.on('disconnect', () => { console.log('alone'); process.exit() })\nconsole.log('up')"
  await writeFile(join(clone, 'bench/entry.ts'), text)
  const child = spawn(process.execPath, [join(clone, 'scripts/run.mjs'), 'bench/entry.ts'], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const reader = createInterface(child.stdout)
  const lines: string[] = []
  for await (const line of reader) {
    lines.push(line)
    if (line === 'up') child.kill('SIGKILL')
  }
  expect(lines).toEqual(['up', 'alone'])
})
