import { arrayOf, exactly, string } from '../../../core/schemas.ts'
import { asDocumented, computed, constant, replaceRecord, shown } from '../../declare-record.ts'
import { emptyToNull } from '../../record-dialect.ts'
import { nothing, nullableString } from '../../response-schema.ts'

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

export const user = replaceRecord<UserRow>({
  members: {
    id: computed(asDocumented, ({ id }) => id),
    email: shown(asDocumented, ({ email }) => email),
    auth_password: constant(asDocumented, ''),
    name: shown(nullableString, ({ name }) => emptyToNull(name)),
    locale: shown(asDocumented, ({ locale }) => locale),
    show_24_hour_time: shown(asDocumented, row => row.show_24_hour_time),
    two_factor_secret: constant(nothing, null),
    created_at: computed(asDocumented, row => row.created_at),
    updated_at: computed(asDocumented, row => row.updated_at),
    roles: shown(asDocumented, ({ roles }) => roles),
    api_keys: computed(arrayOf({}), () => []),
    passkeys: computed(arrayOf({}), () => []),
    login_tokens: computed(arrayOf({}), () => []),
    is_me: computed(asDocumented, row => row.is_me),
    links: computed(exactly({ self: string, masquerade: string }), ({ links: { self } }) => ({
      self,
      masquerade: self
    }))
  }
})
