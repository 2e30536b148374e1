import { text } from '../../model/fields/field.ts'
import { bodySchema, bodyValidator, changesValidator } from '../../model/fields/form.ts'
import { ApiError, assertNoProblems, fieldError } from '../../platform/runtime/errors.ts'
import { effectivePermissionsSchema, readEffectivePermissions } from '../auth/effective-permissions.ts'
import { hashPassword, verifyPassword } from '../auth/passwords.ts'
import { actionRoute } from '../core/actions.ts'
import { changed } from '../core/audit.ts'
import { parseBody } from '../core/parse.ts'
import { actionReply, apiRoute, json } from '../core/route.ts'
import { exactly, string } from '../core/schemas.ts'
import {
  emailField,
  maxPasswordLength,
  minPasswordLength,
  nameField,
  preferenceFields,
  withUniqueEmail
} from './people.ts'
import { accountTag, endSignInSessions, signedInUser, getUser } from './sessions.ts'
import { limitPasswords } from './sign-in.ts'
import { auditUser, preferenceChanges, readUser, userFields } from './users.ts'

const avatarSchema = exactly({
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
  response: exactly({ ...userFields, avatar: avatarSchema }),
  handle: async (request, { reads: sql, config }) => {
    const user = await readUser(sql, getUser(request).id, request, config.BASE_URL)
    return json({ ...user, avatar: renderAvatar(config.BASE_URL) })
  }
})

/** All people have the same picture, since no service is asked for theirs. */
function renderAvatar(baseUrl: string) {
  const url = `${baseUrl}/favicon.ico`
  return { url_32: url, url_64: url, url_128: url, service_name: 'disabled', service_url: baseUrl }
}

const meFields = { email: emailField, name: nameField, ...preferenceFields }
const meValidator = changesValidator(meFields)

const editMe = actionRoute('PUT', '/api/frontend/account/me', 'any key', {
  id: 'editMe',
  tag: accountTag,
  summary:
    'Change the name and the preferences of the user of the request; the email address only with a session',
  body: bodySchema(meFields, { isPartial: true }),
  errors: [409],
  prepare(request, { config }) {
    const { id } = getUser(request)
    const values = parseBody(meValidator, request.body)
    const { email, name = null } = values
    return async tx => {
      await tx`select from users where id = ${id} for update`
      const before = await readUser(tx, id, request, config.BASE_URL)
      if (email !== undefined && email !== before.email) signedInUser(request)
      await withUniqueEmail(tx`
        update users set email = coalesce(${email ?? null}, email), name = coalesce(${name}, name),
          ${preferenceChanges(tx, values)} updated_at = now()
        where id = ${id}`)
      const after = await readUser(tx, id, request, config.BASE_URL)
      return { audit: [auditUser(before, after)], reply: actionReply('Record updated successfully.') }
    }
  }
})

const permissions = apiRoute('GET', '/api/frontend/account/permissions', 'any key', {
  id: 'getMyPermissions',
  tag: accountTag,
  summary: 'What the key or session of the request may read and write',
  response: exactly({ effective_permissions: effectivePermissionsSchema }),
  async handle({ caller }, { reads: sql }) {
    if (!caller?.key) throw new ApiError('forbidden')
    return json({ effective_permissions: await readEffectivePermissions(sql, caller.key) })
  }
})

const passwordFields = {
  current_password: text({ max: 1_000, fallback: '', about: 'The current password; empty without one.' }),
  new_password: text({
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
    const { id, sessionId } = signedInUser(request)
    const values = parseBody(passwordValidator, request.body)
    const [user] = await sql<{ account: string; hash: string | null }[]>`
      select lower(email) as account, password_hash as hash from users where id = ${id}`
    if (!user) throw new ApiError('not-found')
    const { account, hash } = user
    if (hash !== null) {
      const client = { account, address: request.address, knownAs: `session ${sessionId}` }
      const isRight = await limitPasswords(services, client, () =>
        verifyPassword(hash, values.current_password)
      )
      if (!isRight) assertNoProblems([fieldError('current_password', 'wrong', 'is wrong.')])
    }
    const newHash = await hashPassword(values.new_password)
    return async tx => {
      const { count } = await tx`
        update users set password_hash = ${newHash}, updated_at = now()
        where id = ${id} and password_hash is not distinct from ${hash}`
      if (count === 0) throw new ApiError('conflict', 'The password was changed meanwhile.')
      await endSignInSessions(tx, id, sessionId)
      return {
        audit: [{ record: 'User', id, name: account, changes: changed('password') }],
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
  response: exactly({ two_factor_enabled: { type: 'boolean', const: false } }),
  handle: request => {
    getUser(request)
    return json({ two_factor_enabled: false })
  }
})

export const accountRoutes = [me, editMe, permissions, password, twoFactor]
