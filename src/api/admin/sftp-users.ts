import * as v from 'valibot'

import { custom, problem, secret, text } from '../../fields/field.ts'
import { hashPassword } from '../../security/passwords.ts'
import { maxPublicKeysBytes, parsePublicKeys } from '../../security/ssh-public-keys.ts'
import { resourceRoutes } from '../core/resource-routes.ts'
import { type ResourceRules, resource } from '../core/resource.ts'

const problemsAtMost = 20

/** OpenSSH keys, one per line. Every line that begins with a type of key must be one. */
const publicKeys = v.pipe(
  v.string(problem('invalid_type', 'must be text.')),
  v.check(
    keys => !/[\0\p{Surrogate}]/u.test(keys),
    problem('invalid_format', 'holds characters that are not allowed.')
  ),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    if (Buffer.byteLength(dataset.value) > maxPublicKeysBytes) {
      addIssue({ message: problem('too_long', `must have at most ${maxPublicKeysBytes} bytes.`) })
      return
    }
    const { problems } = parsePublicKeys(dataset.value)
    for (const { message } of problems.slice(0, problemsAtMost))
      addIssue({ message: problem('invalid_public_key', `is not valid. ${message}`) })
  })
)

/** Who may log in to an SFTP server in front of a station's storage. */
export const sftpUsers = resource({
  name: 'SftpUser',
  title: 'SFTP user',
  tag: 'SFTP users',
  table: 'sftp_users',
  paths: { list: '/api/station/:station_id/sftp-users', one: '/api/station/:station_id/sftp-user/:id' },
  access: { read: 'manage station media', write: 'manage station media' },
  fields: {
    username: text({
      min: 1,
      max: 32,
      pattern: /^[A-Za-z0-9._~-]+$/,
      says: 'may hold letters, digits and . _ ~ - only.',
      about: 'Unique on the whole installation.',
      example: 'morning-show'
    }),
    password: secret({ max: 255, about: 'Null takes it away.' }),
    publicKeys: custom(publicKeys, {
      fallback: '',
      schema: { type: 'string', maxLength: maxPublicKeysBytes },
      about: 'OpenSSH public keys, one per line; other lines are comments.'
    })
  },
  search: ['username'],
  sort: ['id', 'username'],
  order: 'username',
  unique: { sftp_users_username: 'username' }
})

const rules: ResourceRules<typeof sftpUsers.fields> = {
  prepare({ values }) {
    if (values.password !== '' || parsePublicKeys(values.publicKeys).keys.length > 0) return []
    return [
      { field: 'password', code: 'required', message: 'password is required where there is no public key.' }
    ]
  },
  protect: password => hashPassword(password)
}

export const sftpUserRoutes = resourceRoutes(sftpUsers, rules)
