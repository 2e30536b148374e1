import { expect, test } from 'vitest'

import { measureSftp } from '../../src/library/storage/sftp.ts'
import { startOddSftpServer } from '../support/odd-sftp-server.ts'

const { signal } = new AbortController()
const settingsOf = (port: number, password: string) => ({
  host: '127.0.0.1',
  port,
  username: 'dj',
  password,
  privateKey: '',
  privateKeyPassPhrase: ''
})
const owner = { uid: 0, gid: 0, atime: 0, mtime: 0 }
const file = { filename: 'song', longname: '', attrs: { ...owner, mode: 0o100644, size: 9_007_199_254 } }
const folderName = 'again'.repeat(40)
const folder = { filename: folderName, longname: '', attrs: { ...owner, mode: 0o040755, size: 0 } }

test('keyboard-interactive authentication sends the password', async () => {
  await using server = await startOddSftpServer('right', [file])
  const usage = await measureSftp(settingsOf(server.port, 'right'), '/', signal)
  expect(usage).toMatchObject({ usedBytes: 9_007_199_254n, files: 1, skipped: 0 })
  const refused = measureSftp(settingsOf(server.port, 'wrong'), '/', signal)
  await expect(refused).rejects.toMatchObject({ reason: 'denied' })
})

test('a server without SFTP is unusable', async () => {
  await using server = await startOddSftpServer('right', null)
  const measuring = measureSftp(settingsOf(server.port, 'right'), '/', signal)
  await expect(measuring).rejects.toMatchObject({ reason: 'unusable' })
})

test('a folder that contains itself is skipped at the maximum path length', async () => {
  await using server = await startOddSftpServer('right', [file, folder])
  const usage = await measureSftp(settingsOf(server.port, 'right'), '/', signal)
  const levels = 1 + Math.floor(4_096 / `/${folderName}`.length)
  expect(usage).toMatchObject({ files: levels, usedBytes: BigInt(levels) * 9_007_199_254n, skipped: 1 })
})

test('names with slashes are not followed', async () => {
  await using server = await startOddSftpServer('right', [{ ...folder, filename: '../up' }, file])
  const usage = await measureSftp(settingsOf(server.port, 'right'), '/srv', signal)
  expect(usage).toMatchObject({ files: 1, skipped: 1 })
})
