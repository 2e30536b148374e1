import type * as v from 'valibot'

import { text } from '../../fields/field.ts'
import { formOf } from '../../fields/form.ts'
import { withDeadline } from '../../runtime/deadline.ts'
import { ApiError } from '../../runtime/errors.ts'
import { verifyNoPassword, verifyPassword } from '../../security/passwords.ts'
import { matchesKey, maxPublicKeysBytes, parsePublicKeys } from '../../security/ssh-public-keys.ts'
import { locationUri } from '../../storage/location.ts'
import { type LocationRecord, withoutSecrets, recordColumns } from '../../storage/record.ts'
import { parseBody } from '../core/parse.ts'
import { type ApiRoute, json } from '../core/route.ts'
import { exactly, oneOf } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { defaultMediaFolder, resolveMediaFolder } from '../library/media-folder.ts'

const fields = {
  username: text({ min: 1, max: 4_096, about: 'Who logs in.', example: 'morning-show' }),
  password: text({ max: 4_096, isLong: true, fallback: '', about: 'The password, or' }),
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

const lookMs = 5_000

interface UserRow {
  readonly username: string
  readonly password: string
  readonly publicKeys: string
  readonly stationId: number
  readonly locationId: number | null
  readonly quotaBytes: string | null
}

/**
 * The check an SFTP server makes to log a user in. A user who is not known, and a password where none is set,
 * cost as much time as a wrong password.
 */
const login: ApiRoute = {
  method: 'POST',
  path: '/api/internal/sftp-auth',
  access: 'manage station media',
  operation: {
    id: 'checkSftpLogin',
    tag: 'SFTP users',
    summary: 'Whether an SFTP server may let somebody in, and where to',
    body: {
      ...oneOf(
        { password: fields.password.schema, public_key: fields.public_key.schema },
        { username: fields.username.schema }
      ),
      examples: [{ username: 'morning-show', password: 'correct horse' }]
    },
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
    const isGiven = (name: string) => typeof body === 'object' && body !== null && name in body
    if (isGiven('password') === isGiven('public_key'))
      throw ApiError.ofFields([
        { field: 'password', code: 'required', message: 'password or public_key is required, and not both.' }
      ])
    const user = await findUser(services, attempt.username)
    if (!(await isAllowed(user, attempt)) || !user) return json({ allow: false })
    const home = await homeOf(user, services)
    if (home === null) return json({ allow: false })
    return json({
      allow: true,
      username: user.username,
      station_id: user.stationId,
      home,
      quota_bytes: Number(user.quotaBytes ?? 0)
    })
  }
}

async function findUser({ reads: sql }: ApiServices, username: string): Promise<UserRow | undefined> {
  const [user] = await sql<UserRow[]>`
    select u.username, u.password, u.public_keys as "publicKeys", s.id as "stationId",
      l.id as "locationId", l.storage_quota_bytes as "quotaBytes"
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
  return user === undefined || user.password === ''
    ? verifyNoPassword(password)
    : verifyPassword(user.password, password)
}

/**
 * The station's folder, or the address of one that is not on this machine. Null where nobody may be led: out
 * of the allowed folders.
 */
async function homeOf({ stationId, locationId }: UserRow, services: ApiServices): Promise<string | null> {
  const { reads: sql, config } = services
  const [record] =
    locationId === null
      ? []
      : await sql<LocationRecord[]>`
          select ${recordColumns(sql)} from storage_locations where id = ${locationId}`
  if (locationId !== null && !record) return null
  if (record && record.adapter !== 'local') return locationUri(withoutSecrets(record))
  const folder = record?.path ?? defaultMediaFolder(stationId, config.DATA_DIR)
  const real = await withDeadline(lookMs, 'looking at a folder', () => resolveMediaFolder(folder, config))
  return real === null ? null : folder
}

export const sftpAuthRoutes = [login]
