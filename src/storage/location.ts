import { posix } from 'node:path'

/** A folder of this machine. */
export interface LocalLocation {
  readonly adapter: 'local'
  readonly path: string
}

/** What reaches a bucket. `endpoint` is `""` for Amazon, `region` may be `""`. */
export interface S3Settings {
  readonly bucket: string
  readonly region: string
  readonly endpoint: string
  readonly credentialKey: string
  readonly credentialSecret: string
}

/** A bucket, or what begins with `path` and a slash in it. */
export interface S3Location extends S3Settings {
  readonly adapter: 's3'
  readonly path: string
}

/** A folder of a Dropbox. */
export interface DropboxLocation {
  readonly adapter: 'dropbox'
  readonly path: string
  readonly appKey: string
  readonly appSecret: string
  readonly authToken: string
}

/** What opens an SFTP session. Port 0 is 22; `""` where there is no password, key or pass phrase. */
export interface SftpSettings {
  readonly host: string
  readonly port: number
  readonly username: string
  readonly password: string
  readonly privateKey: string
  readonly privateKeyPassPhrase: string
}

/** A folder of an SFTP server. */
export interface SftpLocation extends SftpSettings {
  readonly adapter: 'sftp'
  readonly path: string
}

/** A storage location as it is used: secrets are open, the path is canonical (`normalisePath`). */
export type StorageLocation = LocalLocation | S3Location | DropboxLocation | SftpLocation

export type Adapter = StorageLocation['adapter']

const maxPathLength = 255
const sshPort = 22

/**
 * The canonical form of a path: without `.`, `..` and doubled slashes; absolute and without a slash at the
 * end for local and sftp (the root is `/`), without one at either end for s3 and dropbox (the root is `""`).
 * `null` when there is none: a relative path where an absolute one is needed, one that leads above the root
 * of a bucket, one with control characters, or more than 255 characters.
 */
export function normalisePath(adapter: Adapter, path: string): string | null {
  if (/[\p{Cc}\p{Surrogate}]/u.test(path)) return null
  const normal = adapter === 'local' || adapter === 'sftp' ? absolute(path) : relative(path)
  return normal === null || normal.length > maxPathLength ? null : normal
}

function absolute(path: string): string | null {
  if (!path.startsWith('/')) return null
  return posix.normalize(path).replace(/(?<=.)\/$/, '')
}

function relative(path: string): string | null {
  const parts = posix.normalize(path.replace(/^\/+/, '')).split('/')
  if (parts[0] === '..') return null
  return parts.filter(part => part !== '.' && part !== '').join('/')
}

/**
 * The address of a location for people: the path itself, `s3://bucket/path`, `dropbox://<app key>/path`, or
 * `sftp://user@host[:port]/path`. Nothing in it is secret or made from a secret.
 */
export function locationUri(location: StorageLocation): string {
  switch (location.adapter) {
    case 'local':
      return location.path
    case 's3':
      return `s3://${below(location.bucket, location.path)}`
    case 'dropbox':
      return `dropbox://${below(location.appKey, location.path)}`
    case 'sftp':
      return `sftp://${encodeURIComponent(location.username)}@${hostOf(location)}${location.path}`
    default:
      return location satisfies never
  }
}

/**
 * What two locations have in common when they are the same place: the uri, and for s3 the endpoint as well.
 * For comparison only.
 */
export function locationIdentity(location: StorageLocation): string {
  const uri = locationUri(location)
  if (location.adapter !== 's3' || location.endpoint === '') return uri
  return `${uri} at ${new URL(location.endpoint).href.replace(/\/$/, '')}`
}

function below(top: string, path: string): string {
  return path === '' ? top : `${top}/${path}`
}

function hostOf({ host, port }: SftpLocation): string {
  const name = host.includes(':') ? `[${host.toLowerCase()}]` : host.toLowerCase()
  return port === 0 || port === sshPort ? name : `${name}:${port}`
}
