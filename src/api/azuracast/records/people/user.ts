import { arrayOf, exactObject, string } from '../../../core/schemas.ts'
import {
  keepDocumentedSchema,
  computedMember,
  constantMember,
  declareReplacedRecord,
  shownMember
} from '../../declare-record.ts'
import { emptyToNull } from '../../record-dialect.ts'
import { nullSchema, nullableString } from '../../response-schema.ts'

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

export const userDialect = declareReplacedRecord<UserRow>({
  members: {
    id: computedMember(keepDocumentedSchema, ({ id }) => id),
    email: shownMember(keepDocumentedSchema, ({ email }) => email),
    auth_password: constantMember(keepDocumentedSchema, ''),
    name: shownMember(nullableString, ({ name }) => emptyToNull(name)),
    locale: shownMember(keepDocumentedSchema, ({ locale }) => locale),
    show_24_hour_time: shownMember(keepDocumentedSchema, row => row.show_24_hour_time),
    two_factor_secret: constantMember(nullSchema, null),
    created_at: computedMember(keepDocumentedSchema, row => row.created_at),
    updated_at: computedMember(keepDocumentedSchema, row => row.updated_at),
    roles: shownMember(keepDocumentedSchema, ({ roles }) => roles),
    api_keys: computedMember(arrayOf({}), () => []),
    passkeys: computedMember(arrayOf({}), () => []),
    login_tokens: computedMember(arrayOf({}), () => []),
    is_me: computedMember(keepDocumentedSchema, row => row.is_me),
    links: computedMember(exactObject({ self: string, masquerade: string }), ({ links: { self } }) => ({
      self,
      masquerade: self
    }))
  }
})
