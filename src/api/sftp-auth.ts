import type * as v from 'valibot'

import { ApiError, TooManyRequests } from '../errors.ts'
import { text } from '../fields/field.ts'
import { bodySchema, formOf } from '../fields/form.ts'
import { TooBusyError, verifyNothing, verifyPassword } from '../sftp/password.ts'
import { matchesKey, maxPublicKeysBytes, parsePublicKeys } from '../sftp/public-keys.ts'
import { ownMediaFolder } from './media-folder.ts'
import { parseBody } from './parse.ts'
import { type ApiRoute, json } from './route.ts'
import { exactly } from './schemas.ts'
import type { ApiServices } from './services.ts'

const fields = {
  username: text({ min: 1, max: 255, about: 'Who logs in.', example: 'morning-show' }),
  password: text({ max: 255, isLong: true, fallback: '', about: 'The password, or' }),
  public_key: text({
    max: maxPublicKeysBytes,
    isLong: true,
    isTrimmed: true,
    fallback: '',
    about: 'the OpenSSH public key whose owner the SFTP server has made sure of.'
  })
}
const form = formOf(fields)
type Attempt = v.InferOutput<typeof form>

interface UserRow {
  username: string
  password: string
  publicKeys: string
  stationId: number
  adapter: string | null
  path: string | null
  bucket: string | null
  quotaBytes: string | null
}

/**
 * The check an SFTP server makes to log a user in. A user who is not known, and a password where none is set, cost as
 * much time as a wrong password.
 */
const login: ApiRoute = {
  method: 'POST',
  path: '/api/internal/sftp-auth',
  access: 'manage station media',
  operation: {
    id: 'checkSftpLogin',
    tag: 'SFTP users',
    summary: 'Whether an SFTP server may let somebody in, and where to',
    body: bodySchema(fields),
    answer: {
      oneOf: [
        exactly({
          allow: { type: 'boolean', const: true },
          username: { type: 'string' },
          station_id: { type: 'integer', format: 'int64' },
          home: { type: 'string', description: "The station's media folder." },
          quota_bytes: {
            type: 'integer',
            format: 'int64',
            description: 'Bytes the folder may hold; 0: no limit.'
          }
        }),
        exactly({ allow: { type: 'boolean', const: false } })
      ]
    }
  },
  async handle({ body }, services) {
    const attempt = parseBody(form, body)
    if ((attempt.password === '') === (attempt.public_key === ''))
      throw ApiError.ofFields([
        { field: 'password', code: 'required', message: 'password or public_key is required, and not both.' }
      ])
    const user = await findUser(services, attempt.username)
    if (!(await isAllowed(user, attempt)) || !user) return json({ allow: false })
    return json({
      allow: true,
      username: user.username,
      station_id: user.stationId,
      home: homeOf(user, services.config.DATA_DIR),
      quota_bytes: Number(user.quotaBytes ?? 0)
    })
  }
}

async function findUser({ reads: sql }: ApiServices, username: string): Promise<UserRow | undefined> {
  const [user] = await sql<UserRow[]>`
    select u.username, u.password, u.public_keys as "publicKeys", s.id as "stationId",
      l.adapter, l.path, l.s3_bucket as bucket, l.storage_quota_bytes as "quotaBytes"
    from sftp_users u join stations s on s.id = u.station_id
    left join storage_locations l on l.id = s.media_storage_location_id
    where u.username = ${username}`
  return user
}

async function isAllowed(
  user: UserRow | undefined,
  { password, public_key: key }: Attempt
): Promise<boolean> {
  if (key !== '') return user !== undefined && matchesKey(parsePublicKeys(user.publicKeys).keys, key)
  try {
    return user === undefined || user.password === ''
      ? await verifyNothing(password)
      : await verifyPassword(user.password, password)
  } catch (error) {
    throw error instanceof TooBusyError ? new TooManyRequests(1) : error
  }
}

/** A folder, or the address of one where the media are not kept on this machine. */
function homeOf({ stationId, adapter, path, bucket }: UserRow, dataDir: string): string {
  if (adapter === null) return ownMediaFolder(stationId, dataDir)
  return adapter === 's3' ? `s3://${[bucket, path].filter(Boolean).join('/')}` : (path ?? '')
}

export const sftpAuthRoutes = [login]
