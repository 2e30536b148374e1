import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'

import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand
} from '@aws-sdk/client-s3'

import { FileExistsError, type FileStore, type StoredFile } from './file-store.ts'
import type { S3Settings } from './location.ts'
import { openS3Client, toS3Fault } from './s3.ts'
import { StorageFault } from './storage-fault.ts'

/** The objects below `path` of a bucket. A stored object is never half written. Folders exist by their objects. */
export function openS3Files(settings: S3Settings & { readonly path: string }): FileStore {
  const client = openS3Client(settings)
  const Bucket = settings.bucket
  const keyOf = (path: string) => (settings.path === '' ? path : `${settings.path}/${path}`)

  const find = async (path: string): Promise<StoredFile | null> => {
    try {
      const head = await client.send(new HeadObjectCommand({ Bucket, Key: keyOf(path) }))
      return { sizeBytes: head.ContentLength ?? 0, modifiedMs: head.LastModified?.getTime() ?? 0 }
    } catch (error) {
      if (isMissing(error)) return null
      throw toS3Fault(error)
    }
  }

  return {
    put: async (source, path) => {
      const { size } = await stat(source)
      await withFaults(() =>
        client.send(
          new PutObjectCommand({
            Bucket,
            Key: keyOf(path),
            ContentLength: size,
            Body: createReadStream(source)
          })
        )
      )
      const stored = await find(path)
      if (stored?.sizeBytes !== size) throw new StorageFault('unusable')
      return stored
    },
    stat: find,
    read: async (path, offset, length) => {
      const Range = `bytes=${offset}-${offset + length - 1}`
      return withFaults(async () => {
        const object = await client.send(new GetObjectCommand({ Bucket, Key: keyOf(path), Range }))
        return (await object.Body?.transformToByteArray()) ?? new Uint8Array()
      })
    },
    remove: async path => {
      await withFaults(() => client.send(new DeleteObjectCommand({ Bucket, Key: keyOf(path) })))
    },
    move: async (from, to) => {
      if (await find(to)) throw new FileExistsError(to)
      // Unlike other keys, this one is part of a header, in which S3 reads `?` and `+` as in a URL.
      const CopySource = `${Bucket}/${keyOf(from)}`.split('/').map(encodeURIComponent).join('/')
      await withFaults(() => client.send(new CopyObjectCommand({ Bucket, Key: keyOf(to), CopySource })))
      await withFaults(() => client.send(new DeleteObjectCommand({ Bucket, Key: keyOf(from) })))
    },
    makeFolder: async () => {},
    removeFolder: async () => {}
  }
}

const isMissing = (error: unknown) =>
  error instanceof Error && ['NotFound', 'NoSuchKey', '404'].includes(error.name)

async function withFaults<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    throw isMissing(error) ? new StorageFault('unusable', 'NoSuchKey') : toS3Fault(error)
  }
}
