import type {
  AuthenticationResponseJSON,
  AuthenticatorTransport,
  RegistrationResponseJSON
} from '@simplewebauthn/server'
import * as v from 'valibot'

import { validatedField, formatCheckMessage, textField } from '../../model/fields/field.ts'
import { bodySchema, bodyValidator } from '../../model/fields/validators.ts'
import { ApiError, errorCodeOf } from '../../platform/runtime/errors.ts'
import { isTemporaryStoreError } from '../../platform/runtime/store-errors.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import type { RedisClient } from '../../stores/redis/connection.ts'
import { passkeyChallengeKey } from '../../stores/redis/keys.ts'
import { actionRoute } from '../core/actions.ts'
import { parseBody, parsePathId } from '../core/parse.ts'
import { actionReply, apiRoute, jsonReply } from '../core/route.ts'
import { arrayOf, exactObject, int64, string, unixSeconds } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import type { ApiSettings } from '../core/settings.ts'
import {
  accountTag,
  renderSignedInReply,
  signedInSchema,
  getSignedInUser,
  startSignInSession,
  getRequestUser
} from './sessions.ts'
import { limitSignInAttempts } from './sign-in.ts'

/** Loads the library, which takes 80 ms the first time. */
export const loadWebauthn = () => import('@simplewebauthn/server')

const challengeTtlSeconds = 300
const maxPasskeys = 20
const defaultName = 'Passkey'

/** What a challenge is for: a response to it counts for nothing else. */
export type PasskeyChallengePurpose = 'sign-in' | `user ${number}` | `invitation ${number}`

/** Challenges are in Redis, because the response may reach another server. Each is valid once. */
async function keepChallenge(redis: RedisClient, challenge: string, purpose: PasskeyChallengePurpose) {
  await redis.set(passkeyChallengeKey(challenge), purpose, 'EX', challengeTtlSeconds)
}

const consumeChallenge =
  (redis: RedisClient, purpose: PasskeyChallengePurpose) => async (challenge: string) =>
    /^[\w-]{20,200}$/.test(challenge) && (await redis.getdel(passkeyChallengeKey(challenge))) === purpose

/** The site that passkeys belong to. Passkeys do not work at an address other than `BASE_URL`. */
function siteOf({ BASE_URL: baseUrl }: Pick<ApiSettings, 'BASE_URL'>) {
  const { hostname, origin } = new URL(baseUrl)
  return { rpID: hostname, origin }
}

type PasskeyServices = Pick<ApiServices, 'redis' | 'config'>

/** Options with which a browser creates a passkey. */
export async function offerPasskeyRegistration(
  { redis, config }: PasskeyServices,
  purpose: PasskeyChallengePurpose,
  person: { readonly email: string; readonly name: string },
  existing: readonly string[] = []
) {
  const { generateRegistrationOptions } = await loadWebauthn()
  const options = await generateRegistrationOptions({
    rpName: 'Cuewire',
    rpID: siteOf(config).rpID,
    userName: person.email,
    userDisplayName: person.name || person.email,
    attestationType: 'none',
    excludeCredentials: existing.map(id => ({ id })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' }
  })
  await keepChallenge(redis, options.challenge, purpose)
  return options
}

/** Checks the response of a browser to `offerPasskeyRegistration`. Throws 400 if it is not valid. */
export async function verifyPasskeyRegistration(
  { redis, config }: PasskeyServices,
  purpose: PasskeyChallengePurpose,
  response: RegistrationResponseJSON
) {
  const { rpID, origin } = siteOf(config)
  const { verifyRegistrationResponse } = await loadWebauthn()
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response,
    expectedChallenge: consumeChallenge(redis, purpose),
    expectedOrigin: origin,
    expectedRPID: rpID,
    requireUserVerification: true
  }).catch(refuse)
  if (!verified || !registrationInfo) return refuse()
  return registrationInfo.credential
}

export type NewPasskey = Awaited<ReturnType<typeof verifyPasskeyRegistration>>

/** Stores a passkey of a user. Throws 409 if it is stored already. */
export async function insertPasskey(tx: Tx, userId: number, passkey: NewPasskey, name: string) {
  const { id, publicKey, counter, transports = [] } = passkey
  const [row] = await tx<{ id: number }[]>`
    insert into passkeys (user_id, credential_id, public_key, counter, transports, name)
    select ${userId}::bigint, ${id}, ${Buffer.from(publicKey)}, ${counter}::bigint, ${tx.json([...transports])}::jsonb,
      ${name || defaultName}
    where (select count(*) from passkeys where user_id = ${userId}) < ${maxPasskeys}
    returning id`.catch((error: unknown) => {
    if (errorCodeOf(error) === '23505') throw new ApiError('conflict', 'This passkey is registered already.')
    throw error
  })
  if (!row) throw tooManyPasskeys()
  return row.id
}

const tooManyPasskeys = () =>
  new ApiError('conflict', `There are ${maxPasskeys} passkeys already: remove one first.`)

/** Any failure looks the same: details would help only to forge a response. */
function refuse(cause?: unknown): never {
  if (isTemporaryStoreError(cause)) throw cause
  const message = 'The passkey could not be verified: try again.'
  throw ApiError.ofFields([{ field: 'passkey', code: 'wrong', message }])
}

/** Whether a value may be a credential of a browser. The library validates the rest. */
function isCredential(value: unknown): boolean {
  const { success } = v.safeParse(
    v.object({ id: v.string(), response: v.record(v.string(), v.unknown()) }),
    value
  )
  return success
}

const notCredential = formatCheckMessage('invalid_type', 'must be the response of a browser.')
const about = {
  schema: { type: 'object' },
  about: 'The response of the browser (WebAuthn Level 3, `toJSON`).'
}

const newPasskeyInput = v.custom<RegistrationResponseJSON>(isCredential, notCredential)
const newPasskeyField = validatedField(newPasskeyInput, about)
/** A new passkey in a body; null: none. */
export const optionalPasskeyField = validatedField<RegistrationResponseJSON | null>(newPasskeyInput, {
  ...about,
  schema: { type: ['object', 'null'] },
  fallback: null
})

const anyOptions = {
  type: 'object',
  description: 'Options for the browser (WebAuthn Level 3, JSON).'
} as const

const offerSignIn = apiRoute('POST', '/api/frontend/account/webauthn/login/options', 'public', {
  id: 'offerPasskeySignIn',
  tag: accountTag,
  summary: 'Start to sign in with a passkey',
  response: anyOptions,
  isSameOriginOnly: true,
  errors: [403, 429],
  async handle({ address }, { redis, config }) {
    await limitSignInAttempts({ redis }, address)
    const { rpID } = siteOf(config)
    const { generateAuthenticationOptions } = await loadWebauthn()
    const options = await generateAuthenticationOptions({ rpID, userVerification: 'required' })
    await keepChallenge(redis, options.challenge, 'sign-in')
    return jsonReply(options)
  }
})

interface PasskeyRow {
  readonly id: number
  readonly userId: number
  readonly publicKey: Uint8Array
  readonly counter: number
  readonly transports: AuthenticatorTransport[]
}

const signInFields = {
  passkey: validatedField(v.custom<AuthenticationResponseJSON>(isCredential, notCredential), about)
}
const signInValidator = bodyValidator(signInFields)

const signIn = apiRoute('POST', '/api/frontend/account/webauthn/login', 'public', {
  id: 'signInWithPasskey',
  tag: accountTag,
  summary: 'Sign in with a passkey: sets the session cookie',
  body: bodySchema(signInFields),
  response: signedInSchema,
  isSameOriginOnly: true,
  headers: ['cookie'],
  errors: [403, 429],
  async handle(request, services) {
    const { sql, redis, config } = services
    const response = parseBody(signInValidator, request.body).passkey
    await limitSignInAttempts({ redis }, request.address)
    const { id } = response
    const { rpID, origin } = siteOf(config)
    const [row] = await sql<PasskeyRow[]>`
      select id, user_id as "userId", public_key as "publicKey", counter, transports from passkeys
      where credential_id = ${id.replaceAll('\0', '')}`
    if (!row) return refuse()
    const { verifyAuthenticationResponse } = await loadWebauthn()
    // Before the transaction: it waits for Redis, and computes.
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: consumeChallenge(redis, 'sign-in'),
      expectedOrigin: origin,
      expectedRPID: rpID,
      requireUserVerification: true,
      // It checks the counter.
      credential: { ...row, id, publicKey: new Uint8Array(row.publicKey) }
    }).catch(refuse)
    if (!verified) return refuse()
    return sql.begin(async tx => {
      // Of two sign-ins at a time, one with a copied passkey, only one finds the counter that was verified.
      const { count } = await tx`
        update passkeys set counter = ${authenticationInfo.newCounter}, last_used_at = now()
        where id = ${row.id} and counter = ${row.counter}`
      if (count === 0) return refuse()
      const token = await startSignInSession(tx, row.userId, request)
      return renderSignedInReply(tx, request, services, row.userId, token)
    })
  }
})

const path = '/api/frontend/account/passkey'

const passkeySchema = exactObject({
  id: int64,
  name: string,
  created_at: unixSeconds,
  last_used_at: { ...unixSeconds, description: 'Unix seconds; 0: never.' },
  links: exactObject({ self: string })
})

const selectPasskeys = (sql: Sql, baseUrl: string) => sql`
  select id, name, jsonb_build_object('self', ${`${baseUrl}${path}/`}::text || id) as links, floor(extract(epoch from created_at))::bigint as created_at,
    coalesce(floor(extract(epoch from last_used_at)), 0)::bigint as last_used_at
  from passkeys`

const list = apiRoute('GET', '/api/frontend/account/passkeys', 'any key', {
  id: 'listPasskeys',
  tag: accountTag,
  summary: 'The passkeys of the user',
  response: arrayOf(passkeySchema),
  handle: async (request, { reads: sql, config }) =>
    jsonReply(
      await sql`${selectPasskeys(sql, config.BASE_URL)} where user_id = ${getRequestUser(request).id} order by id`
    )
})

const read = apiRoute('GET', `${path}/:id`, 'any key', {
  id: 'getPasskey',
  tag: accountTag,
  summary: 'A passkey of the user',
  response: passkeySchema,
  async handle(request, { reads: sql, config }) {
    const id = parsePathId(request.params['id'])
    const [row] =
      await sql`${selectPasskeys(sql, config.BASE_URL)} where id = ${id} and user_id = ${getRequestUser(request).id}`
    if (!row) throw new ApiError('not-found')
    return jsonReply(row)
  }
})

const registerPath = '/api/frontend/account/webauthn/register'

const offer = apiRoute('GET', registerPath, 'any key', {
  id: 'offerPasskey',
  tag: accountTag,
  summary: 'Start to add a passkey',
  response: anyOptions,
  errors: [409],
  changes: true,
  async handle(request, services) {
    const { id } = getSignedInUser(request)
    const { reads: sql } = services
    const [user] = await sql<{ email: string; name: string; existing: string[] }[]>`
      select email, name, coalesce((select jsonb_agg(credential_id) from passkeys where user_id = u.id), '[]') as existing
      from users u where id = ${id}`
    if (!user) throw new ApiError('not-found')
    // A passkey that is refused after it was created would remain on the device.
    if (user.existing.length >= maxPasskeys) throw tooManyPasskeys()
    return jsonReply(await offerPasskeyRegistration(services, `user ${id}`, user, user.existing))
  }
})

const registerFields = {
  passkey: newPasskeyField,
  name: textField({
    max: 100,
    isTrimmed: true,
    fallback: '',
    about: 'A name to recognize it by.',
    example: 'Phone'
  })
}
const registerValidator = bodyValidator(registerFields)

const register = actionRoute('PUT', registerPath, 'any key', {
  id: 'addPasskey',
  tag: accountTag,
  summary: 'Add a passkey',
  body: bodySchema(registerFields),
  errors: [409],
  async prepare(request, services) {
    const user = getSignedInUser(request)
    const { passkey, name } = parseBody(registerValidator, request.body)
    const credential = await verifyPasskeyRegistration(services, `user ${user.id}`, passkey)
    return async tx => {
      const id = await insertPasskey(tx, user.id, credential, name)
      return {
        audit: [{ record: 'Passkey', id, name: name || defaultName }],
        reply: actionReply('Passkey added.')
      }
    }
  }
})

const remove = actionRoute('DELETE', `${path}/:id`, 'any key', {
  id: 'deletePasskey',
  tag: accountTag,
  summary: 'Remove a passkey; a user without a password keeps the last one',
  errors: [409],
  prepare(request) {
    const user = getSignedInUser(request)
    const id = parsePathId(request.params['id'])
    return async tx => {
      await tx`select from users where id = ${user.id} for update`
      const [removed] = await tx<{ name: string }[]>`
        delete from passkeys where id = ${id} and user_id = ${user.id} returning name`
      if (!removed) throw new ApiError('not-found')
      const [canSignIn] = await tx`
        select from users u where id = ${user.id}
          and (password_hash is not null or exists (select from passkeys where user_id = u.id))`
      if (!canSignIn) throw new ApiError('conflict', 'Set a password or add another passkey first.')
      return {
        audit: [{ record: 'Passkey', id, name: removed.name }],
        reply: actionReply('Passkey removed.')
      }
    }
  }
})

export const passkeyRoutes = [offerSignIn, signIn, list, read, offer, register, remove]
