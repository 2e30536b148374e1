import * as v from 'valibot'

import {
  locationColumnsFragment,
  type StoredLocation,
  toLocationWithoutSecrets
} from '../../library/storage/location-record.ts'
import { locationUri } from '../../library/storage/location.ts'
import { defaultMediaFolder, resolveAllowedMediaFolder } from '../../library/storage/media-folder.ts'
import {
  validatedField,
  hashedField,
  formatCheckMessage,
  secretField,
  textField
} from '../../model/fields/field.ts'
import { bodyValidator } from '../../model/fields/validators.ts'
import { withDeadline } from '../../platform/runtime/deadline.ts'
import { fieldError, refuseField } from '../../platform/runtime/errors.ts'
import { unstorablePattern } from '../../platform/text/foreign-text.ts'
import { verifyDummyPassword, verifyPassword } from '../auth/passwords.ts'
import { parseBody } from '../core/parse.ts'
import { resourceRoutes } from '../core/resource-routes.ts'
import { type ResourceHooks, defineResource } from '../core/resource.ts'
import { apiRoute, jsonReply } from '../core/route.ts'
import { boolean, exactObject, int64, oneOfObjects, string } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { matchesSshPublicKey, maxSshPublicKeysBytes, parseSshPublicKeys } from './ssh-public-keys.ts'

const maxProblems = 20

/** OpenSSH keys, one per line. Every line that begins with the type of a key must be valid. */
const publicKeys = v.pipe(
  v.string(formatCheckMessage('invalid_type', 'must be text.')),
  v.check(
    keys => !unstorablePattern.test(keys),
    formatCheckMessage('invalid_format', 'holds characters that are not allowed.')
  ),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    const isTooLong = Buffer.byteLength(dataset.value) > maxSshPublicKeysBytes
    if (isTooLong)
      addIssue({
        message: formatCheckMessage('too_long', `must have at most ${maxSshPublicKeysBytes} bytes.`)
      })
    const { problems } = isTooLong ? { problems: [] } : parseSshPublicKeys(dataset.value)
    for (const { message } of problems.slice(0, maxProblems))
      addIssue({ message: formatCheckMessage('invalid_public_key', `is not valid. ${message}`) })
  })
)

/** The users of an SFTP server in front of the storage of a station. */
export const sftpUsersResource = defineResource({
  name: 'SftpUser',
  title: 'SFTP user',
  tag: 'SFTP users',
  table: 'sftp_users',
  paths: { list: '/api/station/:station_id/sftp-users', one: '/api/station/:station_id/sftp-user/:id' },
  access: { read: 'manage station media', write: 'manage station media' },
  fields: {
    username: textField({
      min: 1,
      max: 32,
      pattern: /^[A-Za-z0-9._~-]+$/,
      says: 'may hold letters, digits and . _ ~ - only.',
      about: 'Unique in the installation.',
      example: 'morning-show'
    }),
    password: hashedField(secretField({ max: 255, about: 'Null removes it.' })),
    publicKeys: validatedField(publicKeys, {
      fallback: '',
      schema: { type: 'string', maxLength: maxSshPublicKeysBytes },
      about: 'OpenSSH public keys, one per line; other lines are comments.'
    })
  },
  label: 'username',
  search: ['username'],
  sort: ['id', 'username'],
  order: 'username',
  unique: { sftp_users_username: 'username' }
})

const hooks: ResourceHooks<typeof sftpUsersResource.fields> = {
  beforeWrite({ values }) {
    if (values === null || values.password !== '' || parseSshPublicKeys(values.publicKeys).keys.length > 0)
      return []
    return [fieldError('password', 'required', 'is required without a public key.')]
  }
}

const loginFields = {
  username: textField({ min: 1, max: 4_096, about: 'The user who logs in.', example: 'morning-show' }),
  password: textField({ max: 4_096, isLong: true, fallback: '', about: 'The password of the user.' }),
  public_key: textField({
    max: maxSshPublicKeysBytes,
    isLong: true,
    isTrimmed: true,
    fallback: '',
    about: 'An OpenSSH public key that the SFTP server has verified.'
  })
}
const loginValidator = bodyValidator(loginFields)
type Login = v.InferOutput<typeof loginValidator>

const timeoutMs = 5_000

interface UserRow {
  readonly username: string
  readonly password: string
  readonly publicKeys: string
  readonly stationId: number
  readonly locationId: number | null
  readonly quotaBytes: string | null
}

/** Called by an SFTP server. An unknown user and a missing password take as long as a wrong password. */
const login = apiRoute('POST', '/api/internal/sftp-auth', 'manage station media', {
  id: 'checkSftpLogin',
  tag: 'SFTP users',
  summary: 'Check a login to an SFTP server, and return the folder of the user',
  body: {
    ...oneOfObjects(
      { password: loginFields.password.schema, public_key: loginFields.public_key.schema },
      { username: loginFields.username.schema }
    ),
    examples: [{ username: 'morning-show', password: 'correct horse' }]
  },
  response: {
    oneOf: [
      exactObject({
        allow: { ...boolean, const: true },
        username: string,
        station_id: int64,
        home: { ...string, description: 'The media folder of the station.' },
        quota_bytes: { ...int64, description: 'The maximum size of the folder; 0: no limit.' }
      }),
      exactObject({ allow: { ...boolean, const: false } })
    ]
  },
  async handle({ body }, services) {
    const credentials = parseBody(loginValidator, body)
    const has = (name: string) => typeof body === 'object' && body !== null && name in body
    if (has('password') === has('public_key'))
      refuseField('password', 'required', 'or public_key is required, and not both.')
    const user = await findUser(services, credentials.username)
    const home = (await isAllowed(user, credentials)) && user ? await findHome(user, services) : null
    if (!user || home === null) return jsonReply({ allow: false })
    return jsonReply({
      allow: true,
      username: user.username,
      station_id: user.stationId,
      home,
      quota_bytes: Number(user.quotaBytes ?? 0)
    })
  }
})

async function findUser({ reads: sql }: ApiServices, username: string): Promise<UserRow | undefined> {
  const [user] = await sql<UserRow[]>`
    select u.username, u.password, u.public_keys as "publicKeys", s.id as "stationId",
      l.id as "locationId", l.storage_quota_bytes as "quotaBytes"
    from sftp_users u join stations s on s.id = u.station_id
    left join storage_locations l on l.id = s.media_storage_location_id
    where u.username = ${username}`
  return user
}

async function isAllowed(user: UserRow | undefined, { password, public_key: key }: Login): Promise<boolean> {
  if (key !== '')
    return user !== undefined && matchesSshPublicKey(parseSshPublicKeys(user.publicKeys).keys, key)
  return user === undefined || user.password === ''
    ? verifyDummyPassword(password)
    : verifyPassword(user.password, password)
}

/** Returns the station's folder or the URI of a remote one; null if it is outside of the allowed folders. */
async function findHome({ stationId, locationId }: UserRow, services: ApiServices): Promise<string | null> {
  const { reads: sql, config } = services
  const [record] = await sql<StoredLocation[]>`
    select ${locationColumnsFragment(sql)} from storage_locations where id = ${locationId}`
  if (locationId !== null && !record) return null
  if (record && record.adapter !== 'local') return locationUri(toLocationWithoutSecrets(record))
  const folder = record?.path ?? defaultMediaFolder(stationId, config.DATA_DIR)
  const real = await withDeadline(timeoutMs, 'reading a folder', () =>
    resolveAllowedMediaFolder(folder, config)
  )
  return real === null ? null : folder
}

export const sftpUserRoutes = [...resourceRoutes(sftpUsersResource, hooks), login]
