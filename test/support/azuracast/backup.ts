import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { crc32, createGzip } from 'node:zlib'

import { createXXHash64 } from 'hash-wasm'
import { pack } from 'tar-stream'

const dumpPath = 'tmp/azuracast_backup_mariadb/db.sql'

/** A file of a backup. */
export interface BackupFile {
  readonly path: string
  readonly content: Buffer
}

/** Writes a backup like AzuraCast's `backup` command: other files first, the dump last. */
export async function writeBackup(
  file: string,
  dump: Iterable<string>,
  files: readonly BackupFile[] = []
): Promise<void> {
  const all = [...files, { path: dumpPath, content: Buffer.from([...dump].join('')) }]
  if (file.endsWith('.zip')) {
    await pipeline(Readable.from(renderZip(all)), createWriteStream(file))
    return
  }
  const archive = pack()
  const written = pipeline(
    archive,
    file.endsWith('.tgz') ? createGzip() : await createRawZstd(),
    createWriteStream(file)
  )
  for (const { path, content } of all) {
    const entry = archive.entry({ name: path, size: content.length })
    entry.end(content)
    await once(entry, 'finish')
  }
  archive.finalize()
  await written
}

const maxBlock = 128 * 1024

/** A zstd frame of raw blocks with a checksum. */
async function createRawZstd(): Promise<Transform> {
  const hasher = await createXXHash64()
  let isBegun = false
  const block = (bytes: Buffer, isLast: boolean) => {
    const head = Buffer.alloc(3)
    head.writeUIntLE((bytes.length << 3) | (isLast ? 1 : 0), 0, 3)
    return Buffer.concat([head, bytes])
  }
  return new Transform({
    transform(chunk: Buffer, _, done) {
      // Magic, a checksum but no content size, a window of 128 KiB.
      if (!isBegun) this.push(Buffer.from('28b52ffd0438', 'hex'))
      isBegun = true
      hasher.update(chunk)
      for (let start = 0; start < chunk.length; start += maxBlock)
        this.push(block(chunk.subarray(start, start + maxBlock), false))
      done()
    },
    flush(done) {
      this.push(block(Buffer.alloc(0), true))
      const checksum = Buffer.alloc(4)
      checksum.writeUInt32LE(Number.parseInt(hasher.digest('hex').slice(8), 16))
      this.push(checksum)
      done()
    }
  })
}

/** A ZIP file without compression. */
function* renderZip(files: readonly BackupFile[]): Generator<Buffer> {
  const directory: Buffer[] = []
  let offset = 0
  for (const { path, content } of files) {
    const name = Buffer.from(path)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt32LE(crc32(content), 10)
    common.writeUInt32LE(content.length, 14)
    common.writeUInt32LE(content.length, 18)
    common.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('504b0304', 'hex'), common, name])
    const tail = Buffer.alloc(16)
    tail.writeUInt32LE(offset, 12)
    directory.push(Buffer.concat([Buffer.from('504b01021400', 'hex'), common, tail.subarray(2), name]))
    yield local
    yield content
    offset += local.length + content.length
  }
  const index = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('504b0506', 'hex')
  end.writeUInt16LE(files.length, 8)
  end.writeUInt16LE(files.length, 10)
  end.writeUInt32LE(index.length, 12)
  end.writeUInt32LE(offset, 16)
  yield index
  yield end
}
