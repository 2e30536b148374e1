import ssh2, { type FileEntryWithStats, type SFTPWrapper, type Stats } from 'ssh2'

import { errorCodeOf } from '../../platform/runtime/errors.ts'
import type { SftpSettings } from './location.ts'
import { StorageFault, throwIfStorageAborted, unlessAborted } from './storage-fault.ts'
import { type FolderContent, type StorageUsage, sumFolderTree } from './walk.ts'

const handshakeTimeoutMs = 15_000
const keepaliveMs = 5_000
const maxMissedKeepalives = 3
const folderConcurrency = 8
const maxPathLength = 4_096
/** Takes three seconds. Nobody uses more, but a key can declare four billion. */
const maxKdfRounds = 256
const { STATUS_CODE } = ssh2.utils.sftp

/**
 * Checks that the folder exists and can be listed. Throws a `StorageFault`, or the reason of a signal that is
 * aborted other than by a timeout. The host key is not verified, as a location has no field for it: whoever
 * can redirect the connection can impersonate the server. Decrypting a key blocks this thread for 0.2 seconds
 * or more, so never call this in a process that serves requests.
 */
export async function assertSftpFolder(
  settings: SftpSettings,
  path: string,
  signal: AbortSignal
): Promise<void> {
  await withSession(settings, signal, async sftp => {
    try {
      const stats = await promisifyCallback<Stats>(done => sftp.stat(path, done))
      if (!stats.isDirectory()) throw new StorageFault('not_a_folder')
      await promisifyCallback<Buffer>(done => sftp.opendir(path, done))
    } catch (error) {
      throw toSftpFolderFault(error)
    }
  })
}

/**
 * Measures the regular files below a folder. The path may be a symbolic link; links below it are not
 * followed. A missing folder is empty; a subfolder that cannot be listed is skipped. Throws like `assertSftpFolder`,
 * and does not verify the host key either.
 */
export async function measureSftp(
  settings: SftpSettings,
  path: string,
  signal: AbortSignal
): Promise<StorageUsage> {
  return withSession(settings, signal, async sftp => {
    const read = (folder: string) => readFolder(sftp, folder, folder === path)
    return { ...(await sumFolderTree(path, read, folderConcurrency, signal)), freeBytes: null }
  })
}

async function readFolder(sftp: SFTPWrapper, folder: string, isTop: boolean): Promise<FolderContent<string>> {
  const folders: string[] = []
  const content = { usedBytes: 0n, files: 0, folders, skipped: 0 }
  let entries: FileEntryWithStats[]
  try {
    entries = await promisifyCallback<FileEntryWithStats[]>(done => sftp.readdir(folder, done))
  } catch (error) {
    // A name that is not UTF-8 was decoded with replacements and is not found.
    const isMissing = sftpStatusOf(error) === STATUS_CODE.NO_SUCH_FILE && !folder.includes('\uFFFD')
    if (isTop && !isMissing) throw toSftpFolderFault(error)
    return { ...content, skipped: isMissing ? 0 : 1 }
  }
  for (const { filename, attrs } of entries) {
    const inner = `${folder === '/' ? '' : folder}/${filename}`
    // The protocol lets a server omit both.
    const { mode, size }: { mode?: number; size?: number } = attrs
    if (attrs.isFile() && size !== undefined) {
      content.usedBytes += BigInt(size)
      content.files += 1
    } else if (attrs.isDirectory() && !filename.includes('/') && inner.length <= maxPathLength) {
      folders.push(inner)
    } else if (mode === undefined || attrs.isFile() || attrs.isDirectory()) {
      content.skipped += 1
    }
  }
  return content
}

type Callback<Value> = (error: Error | null | undefined, value: Value) => void

/** Calls a function of the client that takes a callback. */
export function promisifyCallback<Value>(call: (done: Callback<Value>) => void): Promise<Value> {
  return new Promise((resolve, reject) => {
    call((error, value) => (error ? reject(error) : resolve(value)))
  })
}

/** Opens a session for `use` and always closes the connection. */
async function withSession<Result>(
  settings: SftpSettings,
  signal: AbortSignal,
  use: (sftp: SFTPWrapper) => Promise<Result>
): Promise<Result> {
  const { client, failed } = createClient()
  const session = async () => use(await openSftpSession(client, settings))
  try {
    throwIfStorageAborted(signal)
    return await unlessAborted(signal, Promise.race([session(), failed]))
  } finally {
    client.destroy()
  }
}

/** A client, and a promise that rejects when its connection fails or ends. */
function createClient() {
  const client = new ssh2.Client()
  const failed = new Promise<never>((_, reject) => {
    // Stays registered after the session: an unhandled error event would end the process.
    client.on('error', error => reject(toFault(error)))
    client.on('close', () => reject(new StorageFault('unreachable')))
  })
  return { client, failed }
}

/** Opens a session that stays open until `close`. `failed` rejects when the connection ends. */
export async function openSftpConnection(settings: SftpSettings) {
  const { client, failed } = createClient()
  failed.catch(() => {})
  try {
    const sftp = await Promise.race([openSftpSession(client, settings), failed])
    return { sftp, failed, close: () => void client.destroy() }
  } catch (error) {
    client.destroy()
    throw error
  }
}

async function openSftpSession(client: ssh2.Client, settings: SftpSettings): Promise<SFTPWrapper> {
  const { host, port, username, password, privateKey, privateKeyPassPhrase } = settings
  if (parseKdfRounds(privateKey) > maxKdfRounds) throw new StorageFault('bad_key')
  await new Promise<void>((resolve, reject) => {
    client.on('ready', resolve)
    // Some servers ask for the password only interactively.
    client.on('keyboard-interactive', (_name, _instructions, _language, prompts, finish) => {
      finish(prompts.map(() => password))
    })
    try {
      client.connect({
        host,
        port: port === 0 ? 22 : port,
        username,
        ...(password === '' ? {} : { password, tryKeyboard: true }),
        ...(privateKey === '' ? {} : { privateKey, passphrase: privateKeyPassPhrase }),
        readyTimeout: handshakeTimeoutMs,
        keepaliveInterval: keepaliveMs,
        keepaliveCountMax: maxMissedKeepalives
      })
    } catch {
      // Only an unreadable key throws here.
      reject(new StorageFault('bad_key'))
    }
  })
  return promisifyCallback<SFTPWrapper>(done => client.sftp(done)).catch(() => {
    throw new StorageFault('unusable')
  })
}

function toFault(error: Error): StorageFault {
  const level = 'level' in error ? error.level : ''
  if (level === 'client-authentication') return new StorageFault('denied')
  if (level === 'client-timeout') return new StorageFault('timed_out')
  return new StorageFault(level === 'client-socket' ? 'unreachable' : 'unusable', errorCodeOf(error))
}

/** Maps the SSH_FXP_STATUS of the location's folder (draft-ietf-secsh-filexfer-02, section 7). */
export function toSftpFolderFault(error: unknown): StorageFault {
  if (error instanceof StorageFault) return error
  const status = sftpStatusOf(error)
  if (status === STATUS_CODE.NO_SUCH_FILE) return new StorageFault('no_folder')
  return new StorageFault(status === STATUS_CODE.PERMISSION_DENIED ? 'denied' : 'unusable')
}

/** The SSH_FXP_STATUS of an error. */
export function sftpStatusOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

const magic = 'openssh-key-v1\0'
const armor = /-----BEGIN OPENSSH PRIVATE KEY-----([^-]*)-----END/

/**
 * Reads the bcrypt rounds of an encrypted private key in OpenSSH's format (PROTOCOL.key of OpenSSH). Returns
 * 0 for other keys. 16 rounds take 0.2 seconds, in which the thread is blocked.
 */
export function parseKdfRounds(privateKey: string): number {
  const body = Buffer.from(armor.exec(privateKey)?.[1] ?? '', 'base64')
  if (!body.toString('latin1').startsWith(magic)) return 0
  const cipherEnd = findStringEnd(body, magic.length)
  const kdfEnd = findStringEnd(body, cipherEnd)
  // The KDF options are a string that contains the salt, a string, and the rounds.
  const saltEnd = findStringEnd(body, kdfEnd + 4)
  const isBcrypt = body.subarray(cipherEnd + 4, kdfEnd).toString('latin1') === 'bcrypt'
  return isBcrypt && saltEnd + 4 <= body.length ? body.readUInt32BE(saltEnd) : 0
}

/** Returns the end of the string at `start`, which is four bytes of length and its content. */
function findStringEnd(body: Buffer, start: number): number {
  return start + 4 <= body.length ? start + 4 + body.readUInt32BE(start) : body.length
}
