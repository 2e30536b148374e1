import { textField } from '../../model/fields/field.ts'
import { bodySchema, bodyValidator, changesValidator } from '../../model/fields/validators.ts'
import { ApiError, assertNoFieldErrors, fieldError } from '../../platform/runtime/errors.ts'
import { effectivePermissionsSchema, readEffectivePermissions } from '../auth/effective-permissions.ts'
import { hashPassword, verifyPassword } from '../auth/passwords.ts'
import { actionRoute } from '../core/actions.ts'
import { changedWithoutValues } from '../core/audit.ts'
import { parseBody } from '../core/parse.ts'
import { actionReply, apiRoute, jsonReply } from '../core/route.ts'
import { exactObject, string } from '../core/schemas.ts'
import {
  emailField,
  maxPasswordLength,
  minPasswordLength,
  personNameField,
  preferenceFields,
  withUniqueEmail
} from './people.ts'
import { accountTag, endSignInSessions, getSignedInUser, getRequestUser } from './sessions.ts'
import { runLimitedPasswordCheck } from './sign-in.ts'
import { toUserAuditEntry, preferenceAssignmentsFragment, readUser, userFields } from './users.ts'

const avatarSchema = exactObject({
  url_32: string,
  url_64: string,
  url_128: string,
  service_name: string,
  service_url: string
})

const me = apiRoute('GET', '/api/frontend/account/me', 'any key', {
  id: 'getMe',
  tag: accountTag,
  summary: 'The user of the request',
  response: exactObject({ ...userFields, avatar: avatarSchema }),
  handle: async (request, { reads: sql, config }) => {
    const user = await readUser(sql, getRequestUser(request).id, request, config.BASE_URL)
    return jsonReply({ ...user, avatar: renderAvatar(config.BASE_URL) })
  }
})

/** All people have the same picture, since no service is asked for theirs. */
function renderAvatar(baseUrl: string) {
  const url = `${baseUrl}/favicon.ico`
  return { url_32: url, url_64: url, url_128: url, service_name: 'disabled', service_url: baseUrl }
}

const meFields = { email: emailField, name: personNameField, ...preferenceFields }
const meValidator = changesValidator(meFields)

const editMe = actionRoute('PUT', '/api/frontend/account/me', 'any key', {
  id: 'editMe',
  tag: accountTag,
  summary:
    'Change the name and the preferences of the user of the request; the email address only with a session',
  body: bodySchema(meFields, { isPartial: true }),
  errors: [409],
  prepare(request, { config }) {
    const { id } = getRequestUser(request)
    const values = parseBody(meValidator, request.body)
    const { email, name = null } = values
    return async tx => {
      await tx`select from users where id = ${id} for update`
      const before = await readUser(tx, id, request, config.BASE_URL)
      if (email !== undefined && email !== before.email) getSignedInUser(request)
      await withUniqueEmail(tx`
        update users set email = coalesce(${email ?? null}, email), name = coalesce(${name}, name),
          ${preferenceAssignmentsFragment(tx, values)} updated_at = now()
        where id = ${id}`)
      const after = await readUser(tx, id, request, config.BASE_URL)
      return { audit: [toUserAuditEntry(before, after)], reply: actionReply('Record updated successfully.') }
    }
  }
})

const permissions = apiRoute('GET', '/api/frontend/account/permissions', 'any key', {
  id: 'getMyPermissions',
  tag: accountTag,
  summary: 'What the key or session of the request may read and write',
  response: exactObject({ effective_permissions: effectivePermissionsSchema }),
  async handle({ caller }, { reads: sql }) {
    if (!caller?.key) throw new ApiError('forbidden')
    return jsonReply({ effective_permissions: await readEffectivePermissions(sql, caller.key) })
  }
})

const passwordFields = {
  current_password: textField({
    max: 1_000,
    fallback: '',
    about: 'The current password; empty without one.'
  }),
  new_password: textField({
    min: minPasswordLength,
    max: maxPasswordLength,
    about: 'The new password.',
    example: 'correct horse battery'
  })
}
const passwordValidator = bodyValidator(passwordFields)

const password = actionRoute('PUT', '/api/frontend/account/password', 'any key', {
  id: 'changePassword',
  tag: accountTag,
  summary: 'Set a password; ends all other sessions of the user',
  body: bodySchema(passwordFields),
  async prepare(request, services) {
    const { sql, keys } = services
    const { id, sessionId } = getSignedInUser(request)
    const values = parseBody(passwordValidator, request.body)
    const [user] = await sql<{ account: string; hash: string | null }[]>`
      select lower(email) as account, password_hash as hash from users where id = ${id}`
    if (!user) throw new ApiError('not-found')
    const { account, hash } = user
    if (hash !== null) {
      const client = { account, address: request.address, knownAs: `session ${sessionId}` }
      const isRight = await runLimitedPasswordCheck(services, client, () =>
        verifyPassword(hash, values.current_password)
      )
      if (!isRight) assertNoFieldErrors([fieldError('current_password', 'wrong', 'is wrong.')])
    }
    const newHash = await hashPassword(values.new_password)
    return async tx => {
      const { count } = await tx`
        update users set password_hash = ${newHash}, updated_at = now()
        where id = ${id} and password_hash is not distinct from ${hash}`
      if (count === 0) throw new ApiError('conflict', 'The password was changed meanwhile.')
      await endSignInSessions(tx, id, sessionId)
      return {
        audit: [{ record: 'User', id, name: account, changes: changedWithoutValues('password') }],
        reply() {
          keys.forget(({ user: other }) => other?.id === id)
          return actionReply('Password changed. All other sessions have ended.')
        }
      }
    }
  }
})

const twoFactor = apiRoute('GET', '/api/frontend/account/two-factor', 'any key', {
  id: 'getMyTwoFactor',
  tag: accountTag,
  summary: 'Whether the user signs in with one-time passwords: never, there are passkeys instead',
  response: exactObject({ two_factor_enabled: { type: 'boolean', const: false } }),
  handle: request => {
    getRequestUser(request)
    return jsonReply({ two_factor_enabled: false })
  }
})

export const ownAccountRoutes = [me, editMe, permissions, password, twoFactor]
