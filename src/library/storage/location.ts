import { posix } from 'node:path'

/** Access to a bucket. `endpoint` is `""` for Amazon; `region` may be `""`. */
export interface S3Settings {
  readonly bucket: string
  readonly region: string
  readonly endpoint: string
  readonly credentialKey: string
  readonly credentialSecret: string
}

/** Access to an SFTP server. Port 0 is 22; password, key and passphrase may be `""`. */
export interface SftpSettings {
  readonly host: string
  readonly port: number
  readonly username: string
  readonly password: string
  readonly privateKey: string
  readonly privateKeyPassPhrase: string
}

/** A folder with secrets in clear and a canonical path (`normalizeStoragePath`). In a bucket it is a key prefix. */
export type StorageLocation = { readonly path: string } & (
  | { readonly adapter: 'local' }
  | ({ readonly adapter: 's3' } & S3Settings)
  | {
      readonly adapter: 'dropbox'
      readonly appKey: string
      readonly appSecret: string
      readonly authToken: string
    }
  | ({ readonly adapter: 'sftp' } & SftpSettings)
)

export type StorageAdapter = StorageLocation['adapter']

const maxPathLength = 255
const sshPort = 22

/**
 * Returns the canonical form of a path, without `.`, `..` and doubled slashes: absolute and without a
 * trailing slash for local and sftp (the root is `/`), relative for s3 and dropbox (the root is `""`).
 * Returns null for a relative path where an absolute one is needed, a path above the root, control
 * characters, or more than 255 characters.
 */
export function normalizeStoragePath(adapter: StorageAdapter, path: string): string | null {
  if (/[\p{Cc}\p{Surrogate}]/u.test(path)) return null
  const isAbsolute = adapter === 'local' || adapter === 'sftp'
  if (isAbsolute && !path.startsWith('/')) return null
  const parts = posix.normalize(isAbsolute ? path : path.replace(/^\/+/, '')).split('/')
  if (parts[0] === '..') return null
  const relative = parts.filter(part => part !== '.' && part !== '').join('/')
  const normal = isAbsolute ? `/${relative}` : relative
  return normal.length > maxPathLength ? null : normal
}

/**
 * Formats the address of a location for people: its path, `s3://bucket/path`, `dropbox://<app key>/path`, or
 * `sftp://user@host[:port]/path`. It contains no secret.
 */
export function locationUri(location: StorageLocation): string {
  const { adapter, path } = location
  switch (adapter) {
    case 'local':
      return path
    case 's3':
      return `s3://${joinPath(location.bucket, path)}`
    case 'dropbox':
      return `dropbox://${joinPath(location.appKey, path)}`
    case 'sftp': {
      const { port } = location
      const host = location.host.toLowerCase()
      const server = host.includes(':') ? `[${host}]` : host
      const suffix = port === 0 || port === sshPort ? '' : `:${port}`
      return `sftp://${encodeURIComponent(location.username)}@${server}${suffix}${path}`
    }
    default:
      return adapter satisfies never
  }
}

/** Returns a text that is equal for equal places: the URI, and for s3 the endpoint as well. */
export function locationIdentity(location: StorageLocation): string {
  const uri = locationUri(location)
  if (location.adapter !== 's3' || location.endpoint === '') return uri
  return `${uri} at ${new URL(location.endpoint).href.replace(/\/$/, '')}`
}

const joinPath = (top: string, path: string) => (path === '' ? top : `${top}/${path}`)
