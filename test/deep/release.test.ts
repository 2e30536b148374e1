import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFile,
  chmod,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  symlink,
  writeFile
} from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { afterAll, beforeAll, expect } from 'vitest'

import { findFreePort } from '../../src/platform/process/ports.ts'
import { test } from '../support/fixtures.ts'
import { openTempFolder, type TempFolder } from '../support/temp-folder.ts'
import { waitFor } from '../support/wait.ts'
import { shared } from '../support/worker-process.ts'

/* The tarball of `npm run release` with the packages of this platform, as an operator installs it. */

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))
const isRoot = process.getuid?.() === 0
/** The user and group `nobody`. */
const nobody = 65_534

let folder: TempFolder
let tarball = ''
/** The folder in the tarball. */
let top = ''

beforeAll(async () => {
  folder = await openTempFolder()
  tarball = await pack('one')
  const { stdout } = await run('tar', ['-tzf', tarball])
  top = stdout.split('/', 1)[0] ?? ''
}, 180_000)
afterAll(() => folder[Symbol.asyncDispose]())

async function pack(name: string): Promise<string> {
  const out = join(folder.path, name)
  const words = ['--out', out, '--modules', join(root, 'node_modules'), '--allow-dirty']
  await run(process.execPath, [join(root, 'scripts/release.mjs'), ...words], {
    env: { ...process.env, SOURCE_DATE_EPOCH: '1700000000' }
  })
  const [file = ''] = (await readdir(out)).filter(each => each.endsWith('.tar.gz'))
  return join(out, file)
}

/** A PATH with Node, and what the scripts need of the system, without npm and git. */
async function openPath(): Promise<string> {
  const path = join(folder.path, 'programs')
  await mkdir(path, { recursive: true })
  for (const name of ['node', 'sh', 'dirname', 'readlink', 'cat', 'tar', 'gzip', 'sync', 'id', 'ps']) {
    const [target = ''] =
      name === 'node' ? [process.execPath] : (await run('which', [name])).stdout.split('\n')
    await symlink(target, join(path, name)).catch(() => {})
  }
  return path
}

/** Installs the tarball as its documentation says, into a folder of its own. Returns the link. */
async function install(name: string): Promise<string> {
  const opt = await mkdtemp(join(folder.path, `${name} `))
  await chmod(opt, 0o755)
  await run('tar', ['-xzf', tarball, '-C', opt, '--no-same-owner'])
  await symlink(top, join(opt, 'cuewire'))
  return join(opt, 'cuewire')
}

test('the tarball is the same each time, names its commit, and has the checksums of all files', async () => {
  const again = await pack('two')
  expect((await readFile(again)).equals(await readFile(tarball))).toBe(true)
  expect(top).toMatch(/^cuewire-\d+\.\d+\.\d+\+[0-9a-f]{7,}(\.dirty)?$/)
  await run('sha256sum', ['--check', `${tarball}.sha256`], { cwd: join(tarball, '..') })
  const link = await install('sums')
  await run('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: link })
  const files = await readdir(link, { recursive: true })
  for (const name of ['src', 'test', 'web', 'node_modules/vitest', 'node_modules/.bin', 'dist/.build.json'])
    expect(files).not.toContain(name)
  expect(files).toContain('ops/systemd/system/cuewire-workers.service')
}, 180_000)

test('another user runs everything from the tarball without npm, and the version names the commit', async ({
  databaseUrl,
  redisUrl,
  sql,
  onTestFinished
}) => {
  const link = await install('opt')
  const data = await mkdtemp(join(folder.path, 'data'))
  await chmod(data, 0o777)
  const PATH = await openPath()
  const [port, metricsPort] = [await findFreePort(), await findFreePort()]
  const options = {
    cwd: '/',
    ...(isRoot ? { uid: nobody, gid: nobody } : {}),
    env: {
      ...shared,
      PATH,
      HOME: '/nonexistent',
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      DATA_DIR: data,
      PORT: String(port),
      BASE_URL: `http://127.0.0.1:${port}`,
      DRAIN_SECOND: '5',
      CUEWIRE_ENV: '/nonexistent'
    }
  }
  const cuewire = join(link, 'bin/cuewire')
  const version = top.replace('cuewire-', '')
  expect((await run(cuewire, ['version'], options)).stdout).toBe(`${version}\n`)
  expect((await run(cuewire, ['migrate'], options)).stdout).toMatch(/^The database has all \d+ migrations/)
  const output = { server: '', workers: '' }
  for (const name of ['server', 'workers'] as const) {
    const env = { ...options.env, ...(name === 'server' ? { METRICS_PORT: String(metricsPort) } : {}) }
    const child = spawn(cuewire, [name], { ...options, env, stdio: ['ignore', 'pipe', 'pipe'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output[name] += chunk.toString()))
  }
  const isReady = (name: 'server' | 'workers') => output[name].includes(`"version":"${version}"`)
  await waitFor(() => isReady('server') && isReady('workers'), {
    deadlineMs: 30_000,
    what: 'both processes with their version'
  })
  expect(output.server).toContain('DRAIN_SECOND is set and has no effect: DRAIN_SECONDS was probably meant')
  expect(await sql`select distinct version from processes`).toEqual([{ version }])
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  expect(metrics).toContain(`version="${version}"`)
  const page = await (await fetch(`http://127.0.0.1:${port}/`)).text()
  expect(page).toContain('</html>')
  const { stdout: doctor } = await run(cuewire, ['doctor'], options).catch(
    (error: { stdout: string }) => error
  )
  expect(doctor).toContain(`Cuewire ${version}`)
  expect(doctor).toContain('DRAIN_SECOND is set and has no effect')
  expect(doctor).toMatch(/BASE_URL +http:\S+ answers/)
  expect(doctor).toContain('0 problems')
  await run(cuewire, ['backup', join(data, 'backup.tar.gz')], options)
})

test.runIf(isRoot)(
  'workers refuse a DATA_DIR that cannot be written, in one line',
  async ({ databaseUrl, redisUrl }) => {
    const link = await install('read-only')
    const data = join(folder.path, 'read-only-data')
    await mkdir(data)
    const env = {
      ...shared,
      PATH: await openPath(),
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      DATA_DIR: data
    }
    const start = run(join(link, 'bin/cuewire'), ['workers'], { cwd: '/', uid: nobody, gid: nobody, env })
    await expect(start).rejects.toMatchObject({
      code: 1,
      stderr: `cuewire: DATA_DIR ${data} is not writable (EACCES): set a writable folder\n`
    })
  }
)

/** The environment of an operator; that of the test runner has a BASE_URL. */
const environmentOf = (databaseUrl: string) => ({
  PATH: process.env['PATH'],
  DATABASE_URL: databaseUrl,
  CUEWIRE_ENV: '/nonexistent'
})

/** A second release, as one that changes a file, with valid checksums. */
async function packNext(): Promise<{ file: string; name: string }> {
  const work = join(folder.path, 'next')
  await mkdir(work, { recursive: true })
  const name = 'cuewire-9.0.0+abcdef0'
  if (!(await readdir(work)).includes(name)) {
    await run('tar', ['-xzf', tarball, '-C', work])
    await rename(join(work, top), join(work, name))
    await appendFile(join(work, name, 'README.md'), 'next\n')
    await run(
      'sh',
      [
        '-c',
        'find . -type f ! -name SHA256SUMS -printf "%P\\n" | LC_ALL=C sort | xargs -d "\\n" sha256sum > SHA256SUMS'
      ],
      {
        cwd: join(work, name)
      }
    )
    await run('tar', ['-czf', 'next.tar.gz', name], { cwd: work })
    await run('sh', ['-c', 'sha256sum next.tar.gz > next.tar.gz.sha256'], { cwd: work })
  }
  return { file: join(work, 'next.tar.gz'), name }
}

test('an upgrade replaces the link, keeps the release before, and goes back to it', async ({
  databaseUrl
}) => {
  const link = await install('upgrade')
  const { file, name } = await packNext()
  const env = environmentOf(databaseUrl)
  const cuewire = (...args: string[]) => run(join(link, 'bin/cuewire'), args, { env })
  const { stdout } = await cuewire('upgrade', file)
  expect(stdout).toContain('The database has all')
  expect(await readlink(link)).toBe(name)
  expect(await readlink(`${link}-previous`)).toBe(top)
  expect((await cuewire('upgrade', file)).stdout).toContain('already')
  expect(await readlink(`${link}-previous`)).toBe(top)
  await cuewire('upgrade', '--back')
  expect(await readlink(link)).toBe(top)
  await expect(cuewire('upgrade', '--back')).rejects.toThrow('already leads to the release before')
  await cuewire('upgrade', file)
  expect(await readlink(link)).toBe(name)
  expect((await readdir(join(link, '..'))).filter(each => each.startsWith('.'))).toEqual([])
})

test.for([
  ['a damaged tarball', 'its checksum differs'],
  ['a missing checksum', 'has no checksum'],
  ['a damaged file in it', 'differs from its checksum'],
  ['something else', 'is not a release of Cuewire'],
  ['a database that does not answer', 'the database was not migrated, and nothing was changed']
] as const)('an upgrade with %s changes nothing', async ([kind, problem]) => {
  const link = await install(`refused ${kind}`)
  const { file: next, name } = await packNext()
  const file = join(folder.path, `${kind}.tar.gz`)
  await cp(next, file)
  await cp(`${next}.sha256`, `${file}.sha256`)
  const sum = async () => run('sh', ['-c', 'sha256sum "$0" > "$0.sha256"', file])
  if (kind === 'a damaged tarball') await appendFile(file, 'x')
  if (kind === 'a missing checksum') await rm(`${file}.sha256`)
  if (kind === 'a damaged file in it') {
    const work = await mkdtemp(join(folder.path, 'damaged'))
    await run('tar', ['-xzf', next, '-C', work])
    await appendFile(join(work, name, 'dist/src/server.js'), ';evil()')
    await run('tar', ['-czf', file, '-C', work, name])
    await sum()
  }
  if (kind === 'something else') {
    await run('tar', ['-czf', file, '-C', root, 'LICENSE'])
    await sum()
  }
  const env = environmentOf('postgres://nobody@127.0.0.1:1/nothing')
  await expect(run(join(link, 'bin/cuewire'), ['upgrade', file], { env })).rejects.toThrow(problem)
  expect(await readlink(link)).toBe(top)
  expect(
    (await readdir(join(link, '..'))).filter(each => each.startsWith('.') || each.endsWith('-previous'))
  ).toEqual([])
})

test('after a kill at any moment of an upgrade the link leads to a whole release, and the next upgrade finishes', async ({
  databaseUrl
}) => {
  const link = await install('killed')
  const { file, name } = await packNext()
  const env = environmentOf(databaseUrl)
  const whole = async () => {
    const target = await realpath(link)
    await run('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: target })
    expect([name, top]).toContain(target.split('/').at(-1))
  }
  for (const delayMs of [60, 200, 400, 700, 1_000, 1_500, 2_200]) {
    const child = spawn(join(link, 'bin/cuewire'), ['upgrade', file], {
      env,
      stdio: 'ignore',
      detached: true
    })
    const timer = setTimeout(() => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    }, delayMs)
    await once(child, 'exit')
    clearTimeout(timer)
    await whole()
  }
  await run(join(link, 'bin/cuewire'), ['upgrade', file], { env })
  expect(await readlink(link)).toBe(name)
  await whole()
  expect((await lstat(`${link}-previous`)).isSymbolicLink()).toBe(true)
  expect((await readdir(join(link, '..'))).toSorted()).toEqual(
    ['cuewire', 'cuewire-previous', name, top].toSorted()
  )
}, 120_000)

test('two upgrades at a time do not mix', async ({ databaseUrl }) => {
  const link = await install('twice')
  const { file, name } = await packNext()
  const env = environmentOf(databaseUrl)
  const results = await Promise.allSettled(
    [1, 2].map(() => run(join(link, 'bin/cuewire'), ['upgrade', file], { env }))
  )
  expect(results.some(({ status }) => status === 'fulfilled')).toBe(true)
  expect(await readlink(link)).toBe(name)
  expect(await readlink(`${link}-previous`)).toBe(top)
})

test('variables come from the file of the installation if the environment has no DATABASE_URL', async ({
  databaseUrl
}) => {
  const link = await install('environment')
  const file = join(folder.path, 'cuewire.env')
  await writeFile(file, `# Comment\nDATABASE_URL='${databaseUrl}'\n`)
  const env = { ...environmentOf(''), CUEWIRE_ENV: file }
  const { stdout } = await run(join(link, 'bin/cuewire'), ['migrate'], { env })
  expect(stdout).toContain('The database has all')
})
