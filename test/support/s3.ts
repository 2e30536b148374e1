import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import S3rver from '@20minutes/s3rver'
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'

import type { S3Settings } from '../../src/library/storage/location.ts'
import { repairS3rver } from './s3rver-repair.ts'
import { openTempFolder } from './temp-folder.ts'

const putsAtOnce = 50

/** An S3-compatible server for a test, with one empty bucket. */
export interface S3Server extends AsyncDisposable {
  readonly settings: S3Settings
  /** Stores objects of these sizes with these keys. */
  readonly put: (sizes: Record<string, number>) => Promise<void>
  /**
   * The same for many objects: writes the files of the server directly. Keys may contain letters, digits, `/`
   * and `.`.
   */
  readonly putFiles: (sizes: Record<string, number>) => Promise<void>
}

/** Starts a server on a free port of 127.0.0.1 that stores its objects in a separate folder. */
export async function startS3(): Promise<S3Server> {
  repairS3rver()
  const folder = await openTempFolder()
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: folder.path,
    configureBuckets: [{ name: 'radio' }]
  })
  const { port } = await server.run()
  const settings: S3Settings = {
    bucket: 'radio',
    region: '',
    endpoint: `http://127.0.0.1:${port}`,
    // The only credentials of the server.
    credentialKey: 'S3RVER',
    credentialSecret: 'S3RVER'
  }
  const client = new S3Client({
    endpoint: settings.endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: settings.credentialKey, secretAccessKey: settings.credentialSecret }
  })
  const put = async (sizes: Record<string, number>): Promise<void> => {
    const entries = Object.entries(sizes)
    for (let from = 0; from < entries.length; from += putsAtOnce) {
      const some = entries.slice(from, from + putsAtOnce)
      await Promise.all(
        some.map(async ([Key, size]) => {
          const command = new PutObjectCommand({ Bucket: settings.bucket, Key, Body: Buffer.alloc(size) })
          await client.send(command)
        })
      )
    }
  }
  const putFiles = async (sizes: Record<string, number>): Promise<void> => {
    for (const [key, size] of Object.entries(sizes)) {
      const file = join(folder.path, settings.bucket, `${key}._S3rver_object`)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, Buffer.alloc(size))
      await writeFile(`${file}.md5`, '0'.repeat(32))
    }
  }
  return {
    settings,
    put,
    putFiles,
    [Symbol.asyncDispose]: async () => {
      client.destroy()
      await server.close()
      await folder[Symbol.asyncDispose]()
    }
  }
}
