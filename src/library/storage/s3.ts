import { ListObjectsV2Command, type ListObjectsV2CommandInput, S3Client } from '@aws-sdk/client-s3'

import { findProxy, openTunnelAgent } from '../../platform/outbound/proxy.ts'
import { errorCodeOf } from '../../platform/runtime/errors.ts'
import type { S3Settings } from './location.ts'
import { storageAbortReason, StorageFault } from './storage-fault.ts'
import type { StorageUsage } from './walk.ts'

const connectTimeoutMs = 5_000
const responseTimeoutMs = 30_000
/** Of up to 1000 objects each. */
const maxPages = 100_000

/**
 * Checks that the bucket exists and can be listed, by listing one object: measuring needs no other
 * permission. Throws a `StorageFault`, or the reason of a signal that is aborted other than by a timeout.
 */
export async function assertS3Access(settings: S3Settings, signal: AbortSignal): Promise<void> {
  await withClient(settings, signal, client =>
    listPage(client, { Bucket: settings.bucket, MaxKeys: 1 }, signal)
  )
}

/**
 * Measures the objects below `path` (canonical; `""` for all). Empty objects that stand for folders are not
 * counted, nor are old versions and incomplete uploads. Throws like `assertS3Access`.
 */
export async function measureS3(
  settings: S3Settings,
  path: string,
  signal: AbortSignal
): Promise<StorageUsage> {
  return withClient(settings, signal, async client => {
    const query = { Bucket: settings.bucket, Prefix: path === '' ? undefined : `${path}/` }
    let usedBytes = 0n
    let files = 0
    let token: string | undefined
    for (let page = 1; page <= maxPages; page++) {
      const listing = await listPage(client, { ...query, ContinuationToken: token }, signal)
      for (const { Key = '', Size = 0 } of listing.Contents ?? []) {
        usedBytes += BigInt(Size)
        if (Size > 0 || !Key.endsWith('/')) files += 1
      }
      if (!listing.IsTruncated) return { usedBytes, files, freeBytes: null, skipped: 0 }
      const next = listing.NextContinuationToken
      if (next === undefined || next === token) break
      token = next
    }
    throw new StorageFault('unusable')
  })
}

async function listPage(client: S3Client, input: ListObjectsV2CommandInput, signal: AbortSignal) {
  const listing = await client.send(new ListObjectsV2Command(input), { abortSignal: signal })
  // Otherwise any web page would pass for an empty bucket.
  if (listing.IsTruncated === undefined) throw new StorageFault('unusable')
  return listing
}

async function withClient<Result>(
  settings: S3Settings,
  signal: AbortSignal,
  use: (client: S3Client) => Promise<Result>
): Promise<Result> {
  const client = openS3Client(settings)
  try {
    signal.throwIfAborted()
    return await use(client)
  } catch (error) {
    throw signal.aborted ? storageAbortReason(signal) : toS3Fault(error)
  } finally {
    client.destroy()
  }
}

/** Opens a client with time limits. */
export function openS3Client(settings: S3Settings): S3Client {
  const { region, endpoint, credentialKey, credentialSecret } = settings
  return new S3Client({
    // Only Amazon checks the region, but it is part of every signature.
    region: region === '' ? 'us-east-1' : region,
    // Bucket names as host names need DNS entries, which other servers rarely have.
    ...(endpoint === '' ? { followRegionRedirects: true } : { endpoint, forcePathStyle: true }),
    credentials: { accessKeyId: credentialKey, secretAccessKey: credentialSecret },
    // Other servers than Amazon's may not know the checksums that are sent by default.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 2,
    requestHandler: {
      ...proxyAgents(endpoint === '' ? 'https://s3.amazonaws.com' : endpoint),
      connectionTimeout: connectTimeoutMs,
      requestTimeout: responseTimeoutMs,
      throwOnRequestTimeout: true,
      // Unlike the request timeout, this one also covers the body.
      socketTimeout: responseTimeoutMs
    }
  })
}

/** The agents of the proxy for an endpoint; none if it is reached directly. */
function proxyAgents(endpoint: string) {
  const proxy = findProxy(endpoint)
  return proxy === null
    ? {}
    : {
        httpAgent: openTunnelAgent(proxy, 'http:', { keepAlive: true }),
        httpsAgent: openTunnelAgent(proxy, 'https:', { keepAlive: true })
      }
}

const regionErrors = [
  'PermanentRedirect',
  'AuthorizationHeaderMalformed',
  'IllegalLocationConstraintException'
]

/** Maps an error of the client. */
export function toS3Fault(error: unknown): StorageFault {
  if (error instanceof StorageFault) return error
  if (!(error instanceof Error)) return new StorageFault('unusable')
  const { name } = error
  if (name === 'TimeoutError') return new StorageFault('timed_out')
  if (name === 'NoSuchBucket') return new StorageFault('no_bucket')
  if (regionErrors.includes(name)) return new StorageFault('wrong_region', name)
  const status = readHttpStatus(error)
  if (status === 401 || status === 403) return new StorageFault('denied', name)
  if (status !== undefined) return new StorageFault('unusable', String(status))
  const code = errorCodeOf(error)
  // Without a response it was the network, unless the settings cannot be sent.
  const isInvalid = code === '' || code.startsWith('ERR_INVALID')
  return new StorageFault(isInvalid ? 'unusable' : 'unreachable', code)
}

function readHttpStatus(error: Error): number | undefined {
  const metadata: unknown = '$metadata' in error ? error.$metadata : undefined
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return undefined
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined
}
