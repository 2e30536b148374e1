import { arrayOf, exactly, string } from '../../../core/schemas.ts'
import { nothing, nullableString, memberOf, replaceSchema } from '../../answer-schema.ts'
import { orNull, type RecordDialect } from '../../record-dialect.ts'

type UserRow = {
  readonly id: number
  readonly email: string
  readonly name: string
  readonly locale: string | null
  readonly show_24_hour_time: boolean | null
  readonly roles: readonly object[]
  readonly created_at: number
  readonly updated_at: number
  readonly is_me: boolean
  readonly links: { readonly self: string }
}

const sameMembers = [
  'id',
  'email',
  'auth_password',
  'locale',
  'show_24_hour_time',
  'created_at',
  'updated_at',
  'roles',
  'is_me'
]

export const user: RecordDialect<UserRow> = {
  answer: documented =>
    replaceSchema({
      ...Object.fromEntries(sameMembers.map(name => [name, memberOf(documented, name)])),
      name: nullableString,
      two_factor_secret: nothing,
      api_keys: arrayOf({}),
      passkeys: arrayOf({}),
      login_tokens: arrayOf({}),
      links: exactly({ self: string, masquerade: string })
    })(documented),
  constants: () => ({ auth_password: '', two_factor_secret: null }),
  computed: ['id', 'created_at', 'updated_at', 'api_keys', 'passkeys', 'login_tokens', 'is_me', 'links'],
  render: rows =>
    rows.map(row => ({
      id: row.id,
      email: row.email,
      auth_password: '',
      name: orNull(row.name),
      locale: row.locale,
      show_24_hour_time: row.show_24_hour_time,
      two_factor_secret: null,
      created_at: row.created_at,
      updated_at: row.updated_at,
      roles: row.roles,
      api_keys: [],
      passkeys: [],
      login_tokens: [],
      is_me: row.is_me,
      links: { self: row.links.self, masquerade: row.links.self }
    }))
}
