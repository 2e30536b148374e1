import {
  ListObjectsV2Command,
  type ListObjectsV2CommandInput,
  type ListObjectsV2CommandOutput,
  S3Client
} from '@aws-sdk/client-s3'

import { codeOf, storageFaultReason, StorageFault } from './fault.ts'
import type { S3Settings } from './location.ts'
import type { Usage } from './size.ts'

const connectMs = 5_000
const answerMs = 30_000
/** Of up to 1000 objects each. */
const maxPages = 100_000

/**
 * Makes sure that the bucket is there and these credentials may list it, by asking for one object: measuring
 * needs no other right. Throws a `StorageFault`: `unreachable`, `timed_out`, `denied`, `no_bucket`,
 * `wrong_region`, `unusable`. Rejects with the reason of a signal that is aborted for another cause than
 * time.
 */
export async function checkS3(settings: S3Settings, signal: AbortSignal): Promise<void> {
  await withClient(settings, signal, async client => {
    await list(client, { Bucket: settings.bucket, MaxKeys: 1 }, signal)
  })
}

/**
 * Sums up the objects of a bucket whose keys are below `path` (canonical; `""` for all). Empty objects that
 * stand for folders are no files. Former versions and unfinished uploads are not counted. Throws like
 * `checkS3`; a listing without end is `unusable`.
 */
export async function measureS3(settings: S3Settings, path: string, signal: AbortSignal): Promise<Usage> {
  return withClient(settings, signal, async client => {
    let usedBytes = 0n
    let files = 0
    let token: string | undefined
    for (let page = 1; page <= maxPages; page++) {
      const answer = await list(
        client,
        {
          Bucket: settings.bucket,
          Prefix: path === '' ? undefined : `${path}/`,
          ContinuationToken: token
        },
        signal
      )
      for (const { Key = '', Size = 0 } of answer.Contents ?? []) {
        usedBytes += BigInt(Size)
        if (Size > 0 || !Key.endsWith('/')) files += 1
      }
      if (!answer.IsTruncated) return { usedBytes, files, freeBytes: null, skipped: 0 }
      const next = answer.NextContinuationToken
      if (next === undefined || next === token) throw new StorageFault('unusable')
      token = next
    }
    throw new StorageFault('unusable')
  })
}

async function list(
  client: S3Client,
  input: ListObjectsV2CommandInput,
  signal: AbortSignal
): Promise<ListObjectsV2CommandOutput> {
  const answer = await client.send(new ListObjectsV2Command(input), { abortSignal: signal })
  // Any page of a web server would pass for an empty bucket.
  if (answer.IsTruncated === undefined) throw new StorageFault('unusable')
  return answer
}

async function withClient<Result>(
  settings: S3Settings,
  signal: AbortSignal,
  use: (client: S3Client) => Promise<Result>
): Promise<Result> {
  const { region, endpoint, credentialKey, credentialSecret } = settings
  const client = new S3Client({
    // Servers other than Amazon's ignore the region, but it is part of every signature.
    region: region === '' ? 'us-east-1' : region,
    // Bucket names as host names need DNS entries that other servers seldom have.
    ...(endpoint === '' ? { followRegionRedirects: true } : { endpoint, forcePathStyle: true }),
    credentials: { accessKeyId: credentialKey, secretAccessKey: credentialSecret },
    maxAttempts: 2,
    requestHandler: {
      connectionTimeout: connectMs,
      requestTimeout: answerMs,
      throwOnRequestTimeout: true,
      // It also counts while the body arrives, which the time-out of the request does not.
      socketTimeout: answerMs
    }
  })
  try {
    signal.throwIfAborted()
    return await use(client)
  } catch (error) {
    throw signal.aborted ? storageFaultReason(signal) : faultOf(error)
  } finally {
    client.destroy()
  }
}

const regionNames = [
  'PermanentRedirect',
  'AuthorizationHeaderMalformed',
  'IllegalLocationConstraintException'
]

function faultOf(error: unknown): StorageFault {
  if (error instanceof StorageFault) return error
  if (!(error instanceof Error)) return new StorageFault('unusable')
  const { name } = error
  if (name === 'TimeoutError') return new StorageFault('timed_out')
  if (name === 'NoSuchBucket') return new StorageFault('no_bucket')
  if (regionNames.includes(name)) return new StorageFault('wrong_region', name)
  const status = statusOf(error)
  if (status === 401 || status === 403) return new StorageFault('denied', name)
  if (status !== undefined) return new StorageFault('unusable', String(status))
  const code = codeOf(error)
  // Without an answer it was the network, unless the settings cannot even be sent.
  const isSettings = code === '' || code.startsWith('ERR_INVALID')
  return new StorageFault(isSettings ? 'unusable' : 'unreachable', code)
}

function statusOf(error: Error): number | undefined {
  if (!('$metadata' in error) || typeof error.$metadata !== 'object' || error.$metadata === null)
    return undefined
  const metadata: { httpStatusCode?: unknown } = error.$metadata
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined
}
