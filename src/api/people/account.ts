import { integer, text } from '../../fields/field.ts'
import { bodySchema, bodyValidator } from '../../fields/form.ts'
import { ApiError, fieldError } from '../../runtime/errors.ts'
import { hashPassword, verifyPassword } from '../../security/passwords.ts'
import { effectivePermissionsSchema, readEffectivePermissions } from '../auth/effective-permissions.ts'
import { generateKey, storeKey } from '../auth/keys.ts'
import { assertNoProblems } from '../core/accept.ts'
import { recordAudit } from '../core/audit.ts'
import { maxSecond } from '../core/moments.ts'
import { parseBody, parseId } from '../core/parse.ts'
import { actionReply, apiRoute, json } from '../core/route.ts'
import { arrayOf, exactly, int64, ref, string, unixSeconds } from '../core/schemas.ts'
import { maxPasswordLength, minPasswordLength, nameField } from './people.ts'
import { accountTag, endSessions, signedInUser, userOf } from './sessions.ts'
import { limitPasswords } from './sign-in.ts'
import { readUser } from './users.ts'

const maxKeys = 50

const me = apiRoute('GET', '/api/frontend/account/me', 'any key', {
  id: 'getMe',
  tag: accountTag,
  summary: 'The user of the request',
  answer: ref('User'),
  handle: async (request, { reads: sql, config }) =>
    json(await readUser(sql, userOf(request).id, request, config.BASE_URL))
})

const meFields = { name: nameField }
const meValidator = bodyValidator(meFields)

const editMe = apiRoute('PUT', '/api/frontend/account/me', 'any key', {
  id: 'editMe',
  tag: accountTag,
  summary: 'Change the name of the user of the request',
  body: bodySchema(meFields),
  answer: ref('ActionResult'),
  async handle(request, { sql }) {
    const { id } = signedInUser(request)
    const { name } = parseBody(meValidator, request.body)
    await sql.begin(async tx => {
      await tx`update users set name = ${name}, updated_at = now() where id = ${id}`
      await recordAudit(tx, request, { record: 'User', id, fields: ['name'] })
    })
    return actionReply('Record updated successfully.')
  }
})

const permissions = apiRoute('GET', '/api/frontend/account/permissions', 'any key', {
  id: 'getMyPermissions',
  tag: accountTag,
  summary: 'What the key or session of the request may read and write',
  answer: exactly({ effective_permissions: effectivePermissionsSchema }),
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

const password = apiRoute('PUT', '/api/frontend/account/password', 'any key', {
  id: 'changePassword',
  tag: accountTag,
  summary: 'Set a password; ends all other sessions of the user',
  body: bodySchema(passwordFields),
  answer: ref('ActionResult'),
  async handle(request, { sql, keys }) {
    const { id, sessionId } = signedInUser(request)
    const values = parseBody(passwordValidator, request.body)
    const [user] = await sql<{ email: string; hash: string | null }[]>`
      select email, password_hash as hash from users where id = ${id}`
    if (!user) throw new ApiError('not-found')
    const { hash } = user
    if (hash !== null) {
      const isRight = await limitPasswords(user.email, () => verifyPassword(hash, values.current_password))
      if (!isRight) assertNoProblems([fieldError('current_password', 'wrong', 'is wrong.')])
    }
    const newHash = await hashPassword(values.new_password)
    await sql.begin(async tx => {
      const { count } = await tx`
        update users set password_hash = ${newHash}, updated_at = now()
        where id = ${id} and password_hash is not distinct from ${hash}`
      if (count === 0) throw new ApiError('conflict', 'The password was changed meanwhile.')
      await endSessions(tx, id, sessionId)
      await recordAudit(tx, request, { record: 'User', id, fields: ['password'] })
    })
    keys.forget(({ user: other }) => other?.id === id)
    return actionReply('Password changed. All other sessions have ended.')
  }
})

const ownKeySchema = exactly({
  id: int64,
  name: string,
  identifier: { ...string, description: 'The first half of the key.' },
  created_at: unixSeconds,
  expires_at: { ...unixSeconds, description: 'Unix seconds; 0: never.' },
  last_used_at: { ...unixSeconds, description: 'Unix seconds; 0: never.' }
})

const keysPath = '/api/frontend/account/api-keys'

const listKeys = apiRoute('GET', keysPath, 'any key', {
  id: 'listMyApiKeys',
  tag: accountTag,
  summary: "The user's own API keys",
  answer: arrayOf(ownKeySchema),
  async handle(request, { reads: sql }) {
    const rows = await sql`
      select id, name, identifier, floor(extract(epoch from created_at))::bigint as created_at,
        coalesce(floor(extract(epoch from expires_at)), 0)::bigint as expires_at,
        coalesce(floor(extract(epoch from last_used_at)), 0)::bigint as last_used_at
      from api_keys where user_id = ${userOf(request).id} and revoked_at is null order by id limit ${maxKeys}`
    return json(rows)
  }
})

const keyFields = {
  name: text({ min: 1, max: 200, isTrimmed: true, about: 'What the key is for.', example: 'Upload script' }),
  expires_at: integer({ min: 0, max: maxSecond, fallback: 0, about: 'Unix seconds; 0: never.' })
}
const keyValidator = bodyValidator(keyFields)

const createKey = apiRoute('POST', keysPath, 'any key', {
  id: 'createMyApiKey',
  tag: accountTag,
  summary: 'Create an API key that may always do what its user may do; only this response contains it',
  body: bodySchema(keyFields),
  answer: exactly({ key: string, id: int64 }),
  errors: [409],
  async handle(request, { sql }) {
    const user = signedInUser(request)
    const { name, expires_at: expiresAt } = parseBody(keyValidator, request.body)
    if (expiresAt !== 0 && expiresAt * 1000 <= Date.now())
      assertNoProblems([fieldError('expires_at', 'out_of_range', 'is in the past.')])
    const key = generateKey()
    const id = await sql.begin(async tx => {
      await tx`select from users where id = ${user.id} for update`
      const [counted] = await tx<{ count: number }[]>`
        select count(*) from api_keys where user_id = ${user.id} and revoked_at is null`
      if ((counted?.count ?? 0) >= maxKeys)
        throw new ApiError('conflict', `There are ${maxKeys} keys already: revoke one first.`)
      const stored = await storeKey(tx, key, {
        name,
        permissions: [],
        expiresAt: expiresAt === 0 ? null : new Date(expiresAt * 1000),
        userId: user.id
      })
      await recordAudit(tx, request, { record: 'ApiKey', id: stored ?? 0, fields: ['name', 'expires_at'] })
      return stored
    })
    return { ...json({ key, id }), headers: { 'Cache-Control': 'no-store' } }
  }
})

const revokeKey = apiRoute('DELETE', '/api/frontend/account/api-key/:id', 'any key', {
  id: 'revokeMyApiKey',
  tag: accountTag,
  summary: "Revoke one of the user's own API keys",
  answer: ref('ActionResult'),
  async handle(request, { sql, keys }) {
    const user = signedInUser(request)
    const id = parseId(request.params['id'])
    await sql.begin(async tx => {
      const { count } = await tx`
        update api_keys set revoked_at = now() where id = ${id} and user_id = ${user.id} and revoked_at is null`
      if (count === 0) throw new ApiError('not-found')
      await recordAudit(tx, request, { record: 'ApiKey', id, fields: ['revoked_at'] })
    })
    keys.forget(key => key.id === id)
    return actionReply('Key revoked.')
  }
})

export const accountRoutes = [me, editMe, permissions, password, listKeys, createKey, revokeKey]
