import { createWriteStream } from 'node:fs'
import { mkdtemp, open, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { crc32, createGunzip } from 'node:zlib'

import yauzl from 'yauzl'

import { errorCodeOf } from '../../platform/runtime/errors.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { forEachTarFile, openArchiveLimit } from '../../platform/runtime/tar-files.ts'
import { createZstdDecompressor } from './zstd.ts'

/** A file of a backup: its path without the leading slash, and its content. */
export interface ArchivedFile {
  readonly path: string
  readonly size: number
  readonly open: () => Promise<Readable>
}

/** A backup whose database dump was extracted. Disposing it removes the extracted dump. */
export interface OpenedAzuracastBackup extends AsyncDisposable {
  readonly dumpFile: string
  /** Whether it contains files beside the dump, as backups with media do. */
  readonly hasFiles: boolean
  /** Calls `use` for each file, one after the other. Reads the whole archive unless it is a ZIP file. */
  readonly forEachFile: (use: (file: ArchivedFile) => Promise<void>) => Promise<void>
}

type Format = 'zip' | 'tgz' | 'tzst' | 'sql'

/**
 * Opens a backup of AzuraCast: a `.zip`, `.tgz` or `.tzst` with `db.sql`, or only the dump. The format follows from the
 * content. The dump is extracted to the folder for temporary files. Throws an `OperatorError` if the archive is damaged
 * or has no dump.
 */
export async function openAzuracastBackup(
  path: string,
  signal: AbortSignal,
  onProgress: (share: number) => void = () => {}
): Promise<OpenedAzuracastBackup> {
  const format = await detectArchiveFormat(path)
  if (format === 'sql')
    return {
      dumpFile: path,
      hasFiles: false,
      forEachFile: async () => {},
      [Symbol.asyncDispose]: async () => {}
    }
  const walk = format === 'zip' ? walkZip : walkTar(format)
  const folder = await mkdtemp(join(tmpdir(), 'cuewire-migration-'))
  const dispose = async () => rm(folder, { recursive: true, force: true })
  const dumpFile = join(folder, 'db.sql')
  let hasFiles = false
  let dumps = 0
  try {
    await walk(path, signal, onProgress, async file => {
      if (basename(file.path) !== 'db.sql' || !file.path.includes('azuracast_backup')) {
        hasFiles = true
        return
      }
      dumps += 1
      await pipeline(await file.open(), createWriteStream(dumpFile), { signal })
    })
    if (dumps === 0)
      throw new OperatorError(`${path} is not a backup of AzuraCast: it contains no database dump db.sql`)
    if (dumps > 1)
      throw new OperatorError(`${path} contains ${dumps} database dumps db.sql: extract one of them`)
  } catch (error) {
    await dispose()
    signal.throwIfAborted()
    throw asDamaged(path, error)
  }
  return {
    dumpFile,
    hasFiles,
    async forEachFile(use) {
      await walk(path, signal, () => {}, use)
    },
    [Symbol.asyncDispose]: dispose
  }
}

function asDamaged(path: string, error: unknown): unknown {
  if (error instanceof OperatorError) return error
  if (errorCodeOf(error) === 'ENOSPC')
    return new OperatorError('there is no space for the database dump: set TMPDIR to a folder with more', {
      cause: error
    })
  // A compressed dump, such as `db.sql.gz`, is no tar archive.
  if (error instanceof Error && error.message.startsWith('Invalid tar header'))
    return new OperatorError(
      `${path} is no tar archive or is damaged: decompress it first if it is a database dump`,
      {
        cause: error
      }
    )
  return new OperatorError(`${path} is damaged: ${error instanceof Error ? error.message : String(error)}`, {
    cause: error
  })
}

async function detectArchiveFormat(path: string): Promise<Format> {
  const start = Buffer.alloc(8)
  try {
    if (!(await stat(path)).isFile()) throw new OperatorError(`${path} is not a file`)
    await using file = await open(path)
    await file.read(start, 0, start.length, 0)
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw new OperatorError(`${path} cannot be read (${errorCodeOf(error)})`, { cause: error })
  }
  const magic = start.toString('hex')
  if (magic.startsWith('504b0304')) return 'zip'
  if (magic.startsWith('1f8b')) return 'tgz'
  // A frame, or a skippable one, with which archives of pzstd begin.
  if (/^(?:28b52ffd|5.2a4d18)/.test(magic)) return 'tzst'
  if (/^\uFEFF?(?:--|\/\*)/.test(start.toString())) return 'sql'
  throw new OperatorError(`${path} is no backup: expected a .zip, .tgz or .tzst archive, or a database dump`)
}

type Walk = (
  path: string,
  signal: AbortSignal,
  onProgress: (share: number) => void,
  use: (file: ArchivedFile) => Promise<void>
) => Promise<void>

function walkTar(format: 'tgz' | 'tzst'): Walk {
  return async (path, signal, onProgress, use) => {
    const decompressor = format === 'tgz' ? createGunzip() : await createZstdDecompressor()
    await forEachTarFile(path, { signal, onProgress, decompressor }, ({ path: name, size, content }) =>
      use({ path: name, size, open: async () => Readable.from(content) })
    )
  }
}

const walkZip: Walk = async (path, signal, onProgress, use) => {
  const zip = await new Promise<yauzl.ZipFile>((resolve, reject) => {
    yauzl.open(path, { lazyEntries: true, autoClose: false }, (error, opened) =>
      error ? reject(error) : resolve(opened)
    )
  })
  try {
    const limit = openArchiveLimit(zip.fileSize)
    let read = 0
    for await (const entry of entriesOf(zip)) {
      signal.throwIfAborted()
      limit.addEntry(entry.fileName)
      read += 1
      onProgress(read / zip.entryCount)
      if (entry.fileName.endsWith('/')) continue
      await use({
        path: entry.fileName,
        size: entry.uncompressedSize,
        open: async () => openZipEntry(zip, entry, bytes => limit.addBytes(bytes))
      })
    }
  } finally {
    zip.close()
  }
}

async function* entriesOf(zip: yauzl.ZipFile): AsyncGenerator<yauzl.Entry> {
  for (;;) {
    const entry = await new Promise<yauzl.Entry | null>((resolve, reject) => {
      zip.once('entry', resolve)
      zip.once('end', () => resolve(null))
      zip.once('error', reject)
      zip.readEntry()
    }).finally(() => {
      zip.removeAllListeners('entry')
      zip.removeAllListeners('end')
      zip.removeAllListeners('error')
    })
    if (entry === null) return
    yield entry
  }
}

/** Checks the checksum, which the package does not. */
async function openZipEntry(
  zip: yauzl.ZipFile,
  entry: yauzl.Entry,
  addBytes: (count: number) => void
): Promise<Readable> {
  const compressed = await new Promise<Readable>((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => (error ? reject(error) : resolve(stream)))
  })
  let checksum = 0
  const checked = new Transform({
    transform(chunk: Buffer, _, done) {
      checksum = crc32(chunk, checksum)
      try {
        addBytes(chunk.length)
        done(null, chunk)
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)))
      }
    },
    flush(done) {
      done(checksum === entry.crc32 ? null : new Error(`${entry.fileName} has a wrong checksum`))
    }
  })
  compressed.on('error', error => checked.destroy(error))
  return compressed.pipe(checked)
}
