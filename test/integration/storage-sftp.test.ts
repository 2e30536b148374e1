import { mkdir, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { inspect } from 'node:util'

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import type { SftpSettings } from '../../src/library/storage/location.ts'
import { assertSftpFolder, measureSftp } from '../../src/library/storage/sftp.ts'
import { runStorageTaskHere } from '../../src/library/storage/storage-task.ts'
import { findFreePort } from '../../src/platform/process/ports.ts'
import { childrenOf } from '../support/child-process.ts'
import { startChurn } from '../support/churn.ts'
import { startSilentServer } from '../support/silent-server.ts'
import { isRoot, type Sshd, startSshd } from '../support/sshd.ts'
import { sized } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'

const { signal } = new AbortController()
const late = () => new DOMException('late', 'TimeoutError')
let server: Sshd
let byKey: SftpSettings
let folder: string

beforeAll(async () => {
  server = await startSshd()
  const { host, port, username, privateKey } = server
  byKey = { host, port, username, password: '', privateKey, privateKeyPassPhrase: '' }
})

afterAll(async () => server[Symbol.asyncDispose]())

beforeEach(async () => {
  folder = join(server.folder, 'files')
  await mkdir(folder)
})

afterEach(async () => {
  await rm(folder, { recursive: true })
  await waitFor(async () => (await childrenOf(server.pid)).length === 0, {
    deadlineMs: 10_000,
    what: 'the end of all sessions'
  })
})

test('the sizes of all regular files below a folder are summed up', async () => {
  const inner = join(folder, 'a', 'b', 'c')
  await mkdir(inner, { recursive: true })
  await writeFile(join(folder, 'one'), Buffer.alloc(1_001))
  await writeFile(join(folder, 'a', '.hidden ä'), Buffer.alloc(20))
  await writeFile(join(inner, 'empty'), '')
  await writeFile(join(inner, 'large'), '')
  await truncate(join(inner, 'large'), 5 * 1024 ** 3)
  // Several pages: OpenSSH lists 100 entries at a time.
  const length = sized({ quick: 250, deep: 1_100 })
  const many = Array.from({ length }, (_, at) => at % 10)
  await Promise.all(many.map(async (size, at) => writeFile(join(folder, 'a', `${at}`), Buffer.alloc(size))))
  expect(await measureSftp(byKey, folder, signal)).toEqual({
    usedBytes: 5n * 1024n ** 3n + 1_021n + BigInt(length * 4.5),
    files: 4 + length,
    freeBytes: null,
    skipped: 0
  })
})

test('many folders are measured', async () => {
  const length = sized({ quick: 60, deep: 200 })
  const names = Array.from({ length }, (_, at) => join(folder, `${at % 5}`, `${at}`))
  await Promise.all(
    names.map(async name => {
      await mkdir(name, { recursive: true })
      await writeFile(join(name, 'song'), 'abc')
    })
  )
  expect(await measureSftp(byKey, folder, signal)).toMatchObject({
    usedBytes: BigInt(3 * length),
    files: length,
    skipped: 0
  })
})

test('links in a folder are not counted, a link to the folder is followed', async () => {
  const [files, way] = [join(folder, 'files'), join(folder, 'way')]
  await mkdir(files)
  await writeFile(join(folder, 'outside'), Buffer.alloc(5_000))
  await writeFile(join(files, 'little'), Buffer.alloc(5))
  await symlink('../outside', join(files, 'to-file'))
  await symlink('..', join(files, 'round-and-round'))
  await symlink('files', way)
  expect(await measureSftp(byKey, way, signal)).toMatchObject({ usedBytes: 5n, files: 1, skipped: 0 })
})

test('a folder that cannot be listed is skipped, unless it is the location itself', async () => {
  const closed = join(folder, 'closed')
  await mkdir(closed, 0)
  await writeFile(join(folder, 'seen'), Buffer.alloc(10))
  expect(await measureSftp(byKey, folder, signal)).toMatchObject({ usedBytes: 10n, files: 1, skipped: 1 })
  await expect(measureSftp(byKey, closed, signal)).rejects.toMatchObject({ reason: 'denied' })
  await expect(assertSftpFolder(byKey, closed, signal)).rejects.toMatchObject({ reason: 'denied' })
})

test('a folder whose name is not UTF-8 is skipped', async () => {
  const latin = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0x42, 0xf6])])
  await mkdir(latin)
  await writeFile(Buffer.concat([latin, Buffer.from('/unseen')]), 'seven b')
  expect(await measureSftp(byKey, folder, signal)).toMatchObject({ usedBytes: 0n, files: 0, skipped: 1 })
})

test('a missing folder is empty, and a file is not a folder', async () => {
  const missing = join(folder, 'not-yet')
  expect(await measureSftp(byKey, missing, signal)).toMatchObject({ usedBytes: 0n, files: 0, skipped: 0 })
  await expect(assertSftpFolder(byKey, missing, signal)).rejects.toMatchObject({ reason: 'no_folder' })
  await writeFile(join(folder, 'file'), '')
  await expect(assertSftpFolder(byKey, join(folder, 'file'), signal)).rejects.toMatchObject({
    reason: 'not_a_folder'
  })
})

test('files and folders that vanish are not counted', async () => {
  await writeFile(join(folder, 'stays'), Buffer.alloc(7))
  await using churn = startChurn(join(folder, 'inner'))
  const deadline = AbortSignal.timeout(20_000)
  const rounds = sized({ quick: 3, deep: 20 })
  for (let round = 0; round < rounds || (churn.cycles() === 0 && !deadline.aborted); round++) {
    const { usedBytes, skipped } = await measureSftp(byKey, folder, signal)
    expect(skipped).toBe(0)
    expect(usedBytes).toBeGreaterThanOrEqual(7n)
    expect(usedBytes).toBeLessThanOrEqual(47n)
  }
  expect(churn.cycles()).toBeGreaterThan(0)
})

test('a location is measured and checked by its adapter, with an encrypted key too', async () => {
  await writeFile(join(folder, 'song'), 'abc')
  const settings = { ...byKey, privateKey: server.encryptedKey, privateKeyPassPhrase: server.passPhrase }
  const location = { adapter: 'sftp', path: folder, ...settings } as const
  expect(await runStorageTaskHere({ work: 'measure', location }, signal)).toMatchObject({
    usedBytes: 3n,
    files: 1
  })
  await expect(runStorageTaskHere({ work: 'check', location }, signal)).resolves.toBeNull()
})

test.runIf(isRoot)('a password opens a session (sshd checks passwords only as root)', async () => {
  const byPassword = { ...byKey, privateKey: '', password: server.password }
  await expect(assertSftpFolder(byPassword, folder, signal)).resolves.toBeUndefined()
})

describe('a fault has one reason and contains no secret:', () => {
  const secret = 'a-very-secret-secret'
  test.for<[string, () => Partial<SftpSettings>, string]>([
    ['another password', () => ({ privateKey: '', password: secret }), 'denied'],
    ['no credentials', () => ({ privateKey: '' }), 'denied'],
    ['an unknown user', () => ({ username: 'stranger', password: secret }), 'denied'],
    ['an unauthorized key', () => ({ privateKey: server.unauthorizedKey }), 'denied'],
    ['an invalid key', () => ({ privateKey: secret }), 'bad_key'],
    [
      'a wrong passphrase',
      () => ({ privateKey: server.encryptedKey, privateKeyPassPhrase: secret }),
      'bad_key'
    ],
    ['no passphrase', () => ({ privateKey: server.encryptedKey }), 'bad_key'],
    [
      'a passphrase with too many rounds',
      () => ({ privateKey: endlessKey(server.encryptedKey), privateKeyPassPhrase: secret }),
      'bad_key'
    ]
  ])('%s', async ([, change, reason]) => {
    const settings = { ...byKey, ...change() }
    const uses = [
      async () => assertSftpFolder(settings, folder, signal),
      async () => measureSftp(settings, folder, signal)
    ]
    for (const use of uses) {
      const fault: unknown = await use().catch((error: unknown) => error)
      expect(fault).toMatchObject({ reason })
      const text = inspect(fault, { depth: 9, showHidden: true })
      expect(text).not.toContain(secret)
      expect(text).not.toContain('PRIVATE KEY')
    }
  })
})

test('a server that is down is unreachable', async () => {
  const away = { ...byKey, port: await findFreePort() }
  await expect(assertSftpFolder(away, folder, signal)).rejects.toMatchObject({
    reason: 'unreachable',
    message: 'The server cannot be reached (ECONNREFUSED).'
  })
})

test('a web server is not an SFTP server', async () => {
  const http = createServer()
  await new Promise<void>(resolve => http.listen(0, '127.0.0.1', resolve))
  const address = http.address()
  const port = typeof address === 'object' && address ? address.port : 0
  await expect(assertSftpFolder({ ...byKey, port }, folder, signal)).rejects.toMatchObject({
    reason: 'unusable'
  })
  await new Promise(resolve => http.close(resolve))
})

test('a server that does not respond times out, and the connection is closed', async () => {
  await using silent = await startSilentServer()
  const stop = new AbortController()
  const checking = assertSftpFolder({ ...byKey, port: silent.port }, folder, stop.signal)
  await waitFor(() => silent.open() > 0, { deadlineMs: 5_000, what: 'a connection' })
  stop.abort(late())
  await expect(checking).rejects.toMatchObject({ reason: 'timed_out' })
  await waitFor(() => silent.open() === 0, { deadlineMs: 5_000, what: 'the end of the connection' })
})

test('a session that hangs times out', async () => {
  await mkdir(join(folder, 'inner'))
  const stop = new AbortController()
  const measuring = measureSftp(byKey, folder, stop.signal)
  const [session] = await waitFor(async () => nonEmpty(await childrenOf(server.pid)), {
    deadlineMs: 5_000,
    what: 'a session'
  })
  process.kill(session, 'SIGSTOP')
  try {
    stop.abort(late())
    await expect(measuring).rejects.toMatchObject({ reason: 'timed_out' })
  } finally {
    process.kill(session, 'SIGCONT')
  }
})

test('a measurement ends at shutdown', async () => {
  const stop = new AbortController()
  const measuring = measureSftp(byKey, folder, stop.signal)
  stop.abort(new Error('shutdown'))
  await expect(measuring).rejects.toThrow('shutdown')
  await expect(measureSftp(byKey, folder, AbortSignal.abort(late()))).rejects.toMatchObject({
    reason: 'timed_out'
  })
})

/** Returns the key with four billion rounds declared: they follow the salt of 16 bytes, at byte 63. */
function endlessKey(key: string): string {
  const [head, body, tail] = key.split(/(?<=BEGIN OPENSSH PRIVATE KEY-----\n)|(?=-----END)/)
  const bytes = Buffer.from(body ?? '', 'base64')
  expect(bytes.readUInt32BE(63)).toBeLessThan(100)
  bytes.writeUInt32BE(0xffff_ffff, 63)
  return `${head}${bytes.toString('base64')}\n${tail}`
}

function nonEmpty<Value>(list: Value[]): [Value, ...Value[]] | null {
  const [first, ...rest] = list
  return first === undefined ? null : [first, ...rest]
}
