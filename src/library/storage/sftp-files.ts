import { posix } from 'node:path'

import ssh2, { type SFTPWrapper, type Stats } from 'ssh2'

import { FileExistsError, type FileStore, type StoredFile } from './file-store.ts'
import type { SftpSettings } from './location.ts'
import { openSftpConnection, sftpStatusOf, toSftpFolderFault, promisifyCallback } from './sftp.ts'
import { StorageFault } from './storage-fault.ts'

const { STATUS_CODE } = ssh2.utils.sftp
/** A connection is kept for the next request. */
const idleMs = 20_000

/** The files below `path` of an SFTP server. A stored file is written beside its place and then renamed. */
export function openSftpFiles(settings: SftpSettings & { readonly path: string }): FileStore {
  const session = openKeptSession(settings)
  const fullOf = (path: string) => posix.join(settings.path, path)

  /** Creates a folder with those above it, up to the folder of the location, which must exist. */
  const ensureFolder = async (sftp: SFTPWrapper, path: string): Promise<void> => {
    if (path === '.' || path === '') return
    const stats = await find(sftp, fullOf(path))
    if (stats?.isDirectory()) return
    if (stats) throw new FileExistsError(path)
    await ensureFolder(sftp, posix.dirname(path))
    await promisifyCallback<undefined>(done =>
      sftp.mkdir(fullOf(path), error => done(error, undefined))
    ).catch(async (error: unknown) => {
      // Another upload may have created it.
      if (!(await find(sftp, fullOf(path)))?.isDirectory()) throw error
    })
  }
  return {
    put: (source, path, token) =>
      session(async sftp => {
        await ensureFolder(sftp, posix.dirname(path))
        const full = fullOf(path)
        if ((await find(sftp, full))?.isDirectory()) throw new FileExistsError(path)
        const partial = posix.join(posix.dirname(full), `.cuewire-${token}`)
        try {
          await promisifyCallback<undefined>(done =>
            sftp.fastPut(source, partial, error => done(error, undefined))
          )
          await replace(sftp, partial, full)
        } catch (error) {
          // Not awaited: the connection may be the reason.
          sftp.unlink(partial, () => {})
          throw error
        }
        const stored = describe(await find(sftp, full))
        if (stored === null) throw new StorageFault('unusable')
        return stored
      }),
    stat: path => session(async sftp => describe(await find(sftp, fullOf(path)))),
    read: (path, offset, length) =>
      session(async sftp => {
        const handle = await promisifyCallback<Buffer>(done => sftp.open(fullOf(path), 'r', done))
        try {
          return await readFully(sftp, handle, offset, length)
        } finally {
          sftp.close(handle, () => {})
        }
      }),
    remove: path =>
      session(async sftp => {
        const stats = await find(sftp, fullOf(path))
        if (stats?.isDirectory()) throw new FileExistsError(path)
        if (stats) await unlink(sftp, fullOf(path))
      }),
    move: (from, to) =>
      session(async sftp => {
        if (await find(sftp, fullOf(to))) throw new FileExistsError(to)
        await ensureFolder(sftp, posix.dirname(to))
        await rename(sftp, fullOf(from), fullOf(to))
      }),
    makeFolder: path => session(sftp => ensureFolder(sftp, path)),
    removeFolder: path =>
      session(async sftp => {
        // Fails if it is missing or not empty.
        await promisifyCallback<undefined>(done =>
          sftp.rmdir(fullOf(path), error => done(error, undefined))
        ).catch(() => {})
      })
  }
}

const find = async (sftp: SFTPWrapper, full: string): Promise<Stats | null> => {
  try {
    return await promisifyCallback<Stats>(done => sftp.stat(full, done))
  } catch (error) {
    if (sftpStatusOf(error) === STATUS_CODE.NO_SUCH_FILE) return null
    throw error
  }
}

const describe = (stats: Stats | null): StoredFile | null =>
  stats?.isFile() ? { sizeBytes: stats.size, modifiedMs: stats.mtime * 1_000 } : null

const unlink = (sftp: SFTPWrapper, full: string) =>
  promisifyCallback<undefined>(done => sftp.unlink(full, error => done(error, undefined)))
const rename = (sftp: SFTPWrapper, from: string, to: string) =>
  promisifyCallback<undefined>(done => sftp.rename(from, to, error => done(error, undefined)))

async function replace(sftp: SFTPWrapper, from: string, to: string): Promise<void> {
  try {
    // Only this extension of OpenSSH replaces a file.
    await promisifyCallback<undefined>(done =>
      sftp.ext_openssh_rename(from, to, error => done(error, undefined))
    )
  } catch {
    if (await find(sftp, to)) await unlink(sftp, to)
    await rename(sftp, from, to)
  }
}

/** Servers send at most 32 to 256 KiB at once. */
async function readFully(sftp: SFTPWrapper, handle: Buffer, offset: number, length: number) {
  const bytes = Buffer.alloc(length)
  let count = 0
  while (count < length) {
    const size = Math.min(32 * 1024, length - count)
    const read = await new Promise<number>((resolve, reject) => {
      sftp.read(handle, bytes, count, size, offset + count, (error, bytesRead) => {
        if (error && sftpStatusOf(error) !== STATUS_CODE.EOF) reject(error)
        else resolve(error ? 0 : bytesRead)
      })
    })
    if (read === 0) break
    count += read
  }
  return bytes.subarray(0, count)
}

type SftpSession = Awaited<ReturnType<typeof openSftpConnection>>

/** Returns a function that runs work in a session, which is opened if needed and closed when it is idle. */
function openKeptSession(settings: SftpSettings) {
  let opened: Promise<SftpSession> | null = null
  let users = 0
  let timer: NodeJS.Timeout | undefined
  const drop = (current: Promise<SftpSession>) => {
    if (opened === current) opened = null
    void current.then(({ close }) => close()).catch(() => {})
  }
  return async <Value>(work: (sftp: SFTPWrapper) => Promise<Value>): Promise<Value> => {
    clearTimeout(timer)
    users += 1
    const current = (opened ??= openSftpConnection(settings))
    try {
      const { sftp, failed } = await current
      return await Promise.race([work(sftp), failed])
    } catch (error) {
      if (error instanceof FileExistsError) throw error
      drop(current)
      throw toSftpFolderFault(error)
    } finally {
      users -= 1
      if (users === 0) timer = setTimeout(() => drop(current), idleMs)
    }
  }
}
