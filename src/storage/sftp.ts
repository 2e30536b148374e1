import ssh2, { type FileEntryWithStats, type SFTPWrapper } from 'ssh2'

import { codeOf, StorageFault, throwIfAborted, untilAborted } from './fault.ts'
import { type FolderContent, walk } from './local.ts'
import type { SftpSettings } from './location.ts'
import type { Usage } from './size.ts'

const readyMs = 15_000
const keepaliveMs = 5_000
const keepalivesUnanswered = 3
const foldersAtOnce = 8
const maxPathLength = 4_096
/** More than anybody sets; they take three seconds, and a key may claim four billion. */
const maxPassPhraseRounds = 256
const { STATUS_CODE } = ssh2.utils.sftp

/**
 * Makes sure that the folder is there and can be listed. Throws a `StorageFault`: `unreachable`, `timed_out`,
 * `denied`, `bad_key`, `no_folder`, `not_a_folder`, `unusable`. Rejects with the reason of a signal that is
 * aborted for another cause than time. The server's host key is not compared with anything, as a location has
 * no field for it: whoever can redirect the connection can pose as the server. A key with a pass phrase is
 * opened on this thread, which holds up everything else for a fifth of a second or more: not for a process
 * that serves listeners.
 */
export async function checkSftp(settings: SftpSettings, path: string, signal: AbortSignal): Promise<void> {
  await withSession(settings, signal, async sftp => {
    const isFolder = await new Promise<boolean>((resolve, reject) => {
      sftp.stat(path, (error, stats) => (error ? reject(topFaultOf(error)) : resolve(stats.isDirectory())))
    })
    if (!isFolder) throw new StorageFault('not_a_folder')
    await new Promise<void>((resolve, reject) => {
      sftp.opendir(path, error => (error ? reject(topFaultOf(error)) : resolve()))
    })
  })
}

/**
 * Sums up the regular files below a folder of an SFTP server. The path itself may be a symbolic link, links
 * below it are not followed. A folder that is not there holds nothing; one that may not be listed is skipped.
 * Throws like `checkSftp`, and trusts any host key like it.
 */
export async function measureSftp(settings: SftpSettings, path: string, signal: AbortSignal): Promise<Usage> {
  return withSession(settings, signal, async sftp => {
    const read = async (folder: string) => readFolder(sftp, folder, folder === path)
    return { ...(await walk(path, read, foldersAtOnce, signal)), freeBytes: null }
  })
}

async function readFolder(sftp: SFTPWrapper, folder: string, isTop: boolean): Promise<FolderContent<string>> {
  let entries: FileEntryWithStats[]
  try {
    entries = await new Promise((resolve, reject) => {
      sftp.readdir(folder, (error, list) => (error ? reject(error) : resolve(list)))
    })
  } catch (error) {
    // A name that is not UTF-8 arrives garbled and is not found again.
    const isGone = statusOf(error) === STATUS_CODE.NO_SUCH_FILE && !folder.includes('\uFFFD')
    if (isTop && !isGone) throw topFaultOf(error)
    return { usedBytes: 0n, files: 0, folders: [], skipped: isGone ? 0 : 1 }
  }
  let usedBytes = 0n
  let files = 0
  let skipped = 0
  const folders: string[] = []
  for (const { filename, attrs } of entries) {
    const inner = `${folder === '/' ? '' : folder}/${filename}`
    // The protocol lets a server leave both out.
    const { mode, size }: { mode?: number; size?: number } = attrs
    if (attrs.isFile() && size !== undefined) {
      usedBytes += BigInt(size)
      files += 1
    } else if (attrs.isDirectory() && !filename.includes('/') && inner.length <= maxPathLength) {
      folders.push(inner)
    } else if (mode === undefined || attrs.isFile() || attrs.isDirectory()) {
      skipped += 1
    }
  }
  return { usedBytes, files, folders, skipped }
}

/** Opens a session, and closes the connection whatever happens. */
async function withSession<Result>(
  settings: SftpSettings,
  signal: AbortSignal,
  use: (sftp: SFTPWrapper) => Promise<Result>
): Promise<Result> {
  const client = new ssh2.Client()
  const failed = new Promise<never>((_, reject) => {
    // Also after the session: an error that nobody listens to would end the process.
    client.on('error', error => reject(faultOf(error)))
    client.on('close', () => reject(new StorageFault('unreachable')))
  })
  const session = async () => use(await open(client, settings))
  try {
    throwIfAborted(signal)
    return await untilAborted(signal, Promise.race([session(), failed]))
  } finally {
    client.destroy()
  }
}

async function open(client: ssh2.Client, settings: SftpSettings): Promise<SFTPWrapper> {
  const { password, privateKey, privateKeyPassPhrase } = settings
  if (passPhraseRounds(privateKey) > maxPassPhraseRounds) throw new StorageFault('bad_key')
  await new Promise<void>((resolve, reject) => {
    client.on('ready', resolve)
    // Some servers ask for the password only this way.
    client.on('keyboard-interactive', (_name, _instructions, _language, prompts, answer) => {
      answer(prompts.map(() => password))
    })
    try {
      client.connect({
        host: settings.host,
        port: settings.port === 0 ? 22 : settings.port,
        username: settings.username,
        ...(password === '' ? {} : { password, tryKeyboard: true }),
        ...(privateKey === '' ? {} : { privateKey, passphrase: privateKeyPassPhrase }),
        readyTimeout: readyMs,
        keepaliveInterval: keepaliveMs,
        keepaliveCountMax: keepalivesUnanswered
      })
    } catch {
      // The only settings that it looks at before it connects.
      reject(new StorageFault('bad_key'))
    }
  })
  return new Promise((resolve, reject) => {
    client.sftp((error, sftp) => (error ? reject(new StorageFault('unusable')) : resolve(sftp)))
  })
}

function faultOf(error: Error): StorageFault {
  const level = 'level' in error ? error.level : ''
  if (level === 'client-authentication') return new StorageFault('denied')
  if (level === 'client-timeout') return new StorageFault('timed_out')
  const code = codeOf(error)
  return level === 'client-socket'
    ? new StorageFault('unreachable', code)
    : new StorageFault('unusable', code)
}

/** The faults of the folder itself, by SSH_FXP_STATUS (draft-ietf-secsh-filexfer-02, section 7). */
function topFaultOf(error: unknown): StorageFault {
  const status = statusOf(error)
  if (status === STATUS_CODE.NO_SUCH_FILE) return new StorageFault('no_folder')
  if (status === STATUS_CODE.PERMISSION_DENIED) return new StorageFault('denied')
  return new StorageFault('unusable')
}

function statusOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

const magic = 'openssh-key-v1\0'
const armour = /-----BEGIN OPENSSH PRIVATE KEY-----([^-]*)-----END/

/**
 * How often the pass phrase of a private key in OpenSSH's own format is hashed before it opens the key (the
 * rounds of its bcrypt, see PROTOCOL.key of OpenSSH); 0 for keys without, and for what is not in this format.
 * 16 rounds take the fifth of a second, in which the process does nothing else.
 */
export function passPhraseRounds(privateKey: string): number {
  const body = Buffer.from(armour.exec(privateKey)?.[1] ?? '', 'base64')
  if (!body.toString('latin1').startsWith(magic)) return 0
  const cipherEnd = endOfString(body, magic.length)
  const kdfEnd = endOfString(body, cipherEnd)
  // Its options are a string that holds the salt, a string, and the rounds.
  const saltEnd = endOfString(body, kdfEnd + 4)
  const isBcrypt = body.subarray(cipherEnd + 4, kdfEnd).toString('latin1') === 'bcrypt'
  return isBcrypt && saltEnd + 4 <= body.length ? body.readUInt32BE(saltEnd) : 0
}

/** Where the string that begins at `start` ends: four bytes of length, then its bytes. */
function endOfString(body: Buffer, start: number): number {
  return start + 4 <= body.length ? start + 4 + body.readUInt32BE(start) : body.length
}
