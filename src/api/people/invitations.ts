import { timingSafeEqual } from 'node:crypto'

import { integerField, secretField, textField } from '../../model/fields/field.ts'
import { bodySchema, bodyValidator } from '../../model/fields/validators.ts'
import { ApiError, assertNoFieldErrors, fieldError } from '../../platform/runtime/errors.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import { hashPassword } from '../auth/passwords.ts'
import { generateToken, parseToken } from '../auth/tokens.ts'
import { combineRoleGrants } from '../auth/user-grants.ts'
import { actionRoute } from '../core/actions.ts'
import { toAuditedChanges, changedWithoutValues } from '../core/audit.ts'
import { listRoute } from '../core/list-route.ts'
import { containsTextFragment } from '../core/list.ts'
import { parseBody, parsePathId } from '../core/parse.ts'
import { actionReply, apiRoute, jsonReply } from '../core/route.ts'
import { arrayOf, boolean, exactObject, int64, namedSchema, string, unixSeconds } from '../core/schemas.ts'
import { exceedsInviter, inviterColumns, toInviter, type InviterRow } from './inviters.ts'
import {
  verifyPasskeyRegistration,
  insertPasskey,
  offerPasskeyRegistration,
  optionalPasskeyField
} from './passkeys.ts'
import {
  peopleAccess,
  assertFreeEmail,
  assertMayGrant,
  changePeople,
  emailField,
  grantFields,
  grantSchemas,
  lockPeople,
  personNameField,
  type NamedRole,
  readNewGrants,
  peopleTag,
  newPasswordRule,
  emailRule
} from './people.ts'
import { accountTag, renderSignedInReply, signedInSchema, startSignInSession } from './sessions.ts'
import { limitSignInAttempts } from './sign-in.ts'
import { toUserAuditEntry, insertUser, readUser } from './users.ts'

const maxHours = 30 * 24
const maxOpen = 500

const fields = {
  email: textField({
    ...emailRule,
    fallback: '',
    about: 'The address of the person, who may change it. No email is sent.',
    example: 'anna@example.com'
  }),
  name: personNameField,
  ...grantFields,
  expires_in_hours: integerField({
    min: 1,
    max: maxHours,
    fallback: 7 * 24,
    about: 'How long the link is valid, in hours.'
  })
}
const validator = bodyValidator(fields)

const invitationSchema = namedSchema(
  'Invitation',
  'An invitation to become a user.',
  exactObject({
    id: int64,
    email: string,
    name: string,
    ...grantSchemas,
    invited_by: string,
    exceeds_inviter: {
      ...boolean,
      description:
        'Whether it gives more than its maker may give now: it cannot be accepted until that has changed.'
    },
    created_at: unixSeconds,
    expires_at: unixSeconds,
    accepted_at: { ...unixSeconds, description: 'Unix seconds; 0: not accepted.' },
    revoked_at: { ...unixSeconds, description: 'Unix seconds; 0: not revoked.' }
  })
)
const record = invitationSchema

interface InvitationRow extends InviterRow {
  readonly id: number
  readonly email: string
  readonly name: string
  readonly roles: readonly NamedRole[]
  readonly stations: readonly number[]
  readonly invited_by: string
  readonly created_at: number
  readonly expires_at: number
  readonly accepted_at: number
  readonly revoked_at: number
}

const selectInvitations = (sql: Sql | Tx) => sql`
  select id, email, name,
    coalesce((select jsonb_agg(jsonb_build_object('id', r.id, 'name', r.name) order by r.id)
      from roles r where invitations.roles @> to_jsonb(r.id)), '[]') as roles,
    coalesce(stations, '[]') as stations, invited_by,
    floor(extract(epoch from created_at))::bigint as created_at,
    floor(extract(epoch from expires_at))::bigint as expires_at,
    coalesce(floor(extract(epoch from accepted_at)), 0)::bigint as accepted_at,
    coalesce(floor(extract(epoch from revoked_at)), 0)::bigint as revoked_at, ${inviterColumns(sql)}
  from invitations`

function renderInvitation({ hasInviter, inviterUser, inviterKey, given, ...row }: InvitationRow) {
  return { ...row, exceeds_inviter: exceedsInviter({ hasInviter, inviterUser, inviterKey, given }) }
}

const list = listRoute('/api/admin/invitations', peopleAccess, {
  id: 'listInvitations',
  tag: peopleTag,
  summary: 'All invitations, newest first; old ones are removed',
  record,
  open(query, _, { reads: sql }) {
    const contains = containsTextFragment(sql, query.search)
    const where = sql`where email ${contains} or name ${contains}`
    return {
      select: sql`${selectInvitations(sql)} ${where} order by id desc`,
      matching: sql`select from invitations ${where}`,
      render: (rows: readonly InvitationRow[]) => rows.map(renderInvitation)
    }
  }
})

const create = actionRoute('POST', '/api/admin/invitations', peopleAccess, {
  id: 'createInvitation',
  tag: peopleTag,
  summary: 'Invite a person; only this response contains the link, which works once',
  body: bodySchema(fields),
  response: exactObject({ link: { ...string, format: 'uri' }, invitation: record }),
  errors: [409],
  prepare(request, { config }) {
    const values = parseBody(validator, request.body)
    if (values.roles.length === 0)
      assertNoFieldErrors([fieldError('roles', 'required', 'must not be empty.')])
    const token = generateToken()
    const parsed = parseToken(token)
    if (!parsed) throw new Error('malformed token')
    const inviter = toInviter(request)
    return changePeople(async tx => {
      const { stations } = await readNewGrants(tx, request, values)
      const [made] = await tx<{ id: number }[]>`
        insert into invitations (identifier, verifier, email, name, roles, stations, invited_by,
          inviter_user_id, inviter_key_id, expires_at)
        select ${parsed.identifier}, ${parsed.verifier}, ${values.email}, ${values.name}, ${tx.json(values.roles)}::jsonb,
          ${stations === null ? null : tx.json([...stations])}::jsonb, ${request.caller?.key?.name ?? ''},
          ${inviter.userId}::bigint, ${inviter.keyId}::bigint, now() + make_interval(hours => ${values.expires_in_hours})
        where (select count(*) from invitations
          where accepted_at is null and revoked_at is null and expires_at > now()) < ${maxOpen}
        returning id`
      if (!made) throw new ApiError('conflict', `There are ${maxOpen} open invitations: revoke some first.`)
      const [row] = await tx<InvitationRow[]>`${selectInvitations(tx)} where id = ${made.id}`
      if (!row) throw new Error('insert returned no row')
      const invitation = renderInvitation(row)
      return {
        audit: [
          {
            record: 'Invitation',
            id: made.id,
            name: values.email,
            changes: toAuditedChanges(fields, null, { ...values, ...invitation })
          }
        ],
        reply: {
          ...jsonReply({ link: `${config.BASE_URL}/#/join/${token}`, invitation }),
          headers: { 'Cache-Control': 'no-store' }
        }
      }
    })
  }
})

interface StoredInvitation {
  readonly id: number
  readonly email: string
  readonly name: string
  readonly roles: readonly number[]
  readonly stations: readonly number[] | null
}

const revoke = actionRoute('DELETE', '/api/admin/invitation/:id', peopleAccess, {
  id: 'revokeInvitation',
  tag: peopleTag,
  summary: 'Revoke an invitation that was not accepted; idempotent',
  errors: [409],
  prepare: request =>
    changePeople(async tx => {
      const [found] = await tx<(StoredInvitation & { isAccepted: boolean })[]>`
        select id, email, name, roles, stations, accepted_at is not null as "isAccepted"
        from invitations where id = ${parsePathId(request.params['id'])} for update`
      if (!found) throw new ApiError('not-found')
      if (found.isAccepted) throw new ApiError('conflict', 'The person has joined: remove the user instead.')
      assertMayGrant(
        request,
        combineRoleGrants({ roles: await readRoles(tx, found), stations: found.stations })
      )
      await tx`update invitations set revoked_at = coalesce(revoked_at, now()) where id = ${found.id}`
      return {
        audit: [
          {
            record: 'Invitation',
            id: found.id,
            name: found.email,
            changes: changedWithoutValues('revoked_at')
          }
        ],
        reply: actionReply('Invitation revoked.')
      }
    })
})

const readRoles = (tx: Tx, { roles }: StoredInvitation) => tx<
  {
    id: number
    name: string
    permissions: string[]
    stationPermissions: Record<string, string[]>
  }[]
>`
  select id, name, permissions, station_permissions as "stationPermissions" from roles
  where id = any(${[...roles]}::bigint[]) order by id`

/**
 * Finds and locks an open invitation. Throws 404 for any other token, and if it gives more than its maker may give now.
 */
async function getOpenInvitation(tx: Tx, token: string): Promise<StoredInvitation> {
  const parsed = parseToken(token)
  const [row] = parsed
    ? await tx<(StoredInvitation & InviterRow & { readonly verifier: Uint8Array })[]>`
        select id, email, name, roles, stations, verifier, ${inviterColumns(tx)} from invitations
        where identifier = ${parsed.identifier} and accepted_at is null and revoked_at is null and expires_at > now()
        for update`
    : []
  if (!row || !parsed || !timingSafeEqual(row.verifier, parsed.verifier))
    throw new ApiError('not-found', 'This invitation is not valid: it was used, revoked, or has expired.')
  if (exceedsInviter(row))
    throw new ApiError(
      'not-found',
      'This invitation is no longer valid: the person who made it may not give these permissions any more. Ask for a new one.'
    )
  return row
}

const tokenField = textField({
  min: 1,
  max: 200,
  about: 'The last part of the link.',
  example: '0123456789abcdef.0…'
})

const openFields = { token: tokenField }
const openValidator = bodyValidator(openFields)

const view = apiRoute('POST', '/api/frontend/account/invitation', 'public', {
  id: 'openInvitation',
  tag: accountTag,
  summary: 'What an invitation offers',
  body: bodySchema(openFields),
  response: exactObject({ email: string, name: string, roles: arrayOf(string), expires_at: unixSeconds }),
  isSameOriginOnly: true,
  errors: [403, 404, 429],
  async handle(request, services) {
    const { sql } = services
    const { token } = parseBody(openValidator, request.body)
    await limitSignInAttempts(services, request.address)
    return sql.begin(async tx => {
      const invitation = await getOpenInvitation(tx, token)
      const roles = await readRoles(tx, invitation)
      const [times] = await tx<{ expires_at: number }[]>`
        select floor(extract(epoch from expires_at))::bigint as expires_at from invitations where id = ${invitation.id}`
      const { email, name } = invitation
      return jsonReply({ email, name, roles: roles.map(role => role.name), expires_at: times?.expires_at })
    })
  }
})

const personFields = {
  token: tokenField,
  email: emailField,
  name: personNameField,
  password: secretField({
    ...newPasswordRule,
    about: 'The password; needed without a passkey.'
  })
}
const personValidator = bodyValidator(personFields)

const offer = apiRoute('POST', '/api/frontend/account/join/passkey', 'public', {
  id: 'offerPasskeyToJoin',
  tag: accountTag,
  summary:
    'Start to create a passkey with which to accept an invitation, which can then be accepted with the same fields',
  body: bodySchema(personFields),
  response: { type: 'object' },
  isSameOriginOnly: true,
  errors: [403, 404, 409, 429],
  async handle(request, services) {
    const { token, ...person } = parseBody(personValidator, request.body)
    await limitSignInAttempts(services, request.address)
    const { id } = await services.sql.begin(async tx => {
      const invitation = await getOpenInvitation(tx, token)
      await assertFreeEmail(tx, person.email)
      return invitation
    })
    return jsonReply(await offerPasskeyRegistration(services, `invitation ${id}`, person))
  }
})

const joinFields = {
  ...personFields,
  passkey: optionalPasskeyField
}
const joinValidator = bodyValidator(joinFields)

const join = actionRoute('POST', '/api/frontend/account/join', 'public', {
  id: 'acceptInvitation',
  tag: accountTag,
  summary: 'Accept an invitation with a password, a passkey or both: sets the session cookie',
  body: bodySchema(joinFields),
  response: signedInSchema,
  isSameOriginOnly: true,
  headers: ['cookie'],
  errors: [403, 404, 409, 429],
  async prepare(request, services) {
    const { sql, config } = services
    const { token, email, name, password, passkey } = parseBody(joinValidator, request.body)
    if (password === '' && passkey === null)
      assertNoFieldErrors([fieldError('password', 'required', 'is required without a passkey.')])
    await limitSignInAttempts(services, request.address)
    // Before the password is hashed, which takes time and memory.
    const { id } = await sql.begin(tx => getOpenInvitation(tx, token))
    const hash = password === '' ? null : await hashPassword(password)
    const credential = passkey && (await verifyPasskeyRegistration(services, `invitation ${id}`, passkey))
    return async tx => {
      await lockPeople(tx)
      const invitation = await getOpenInvitation(tx, token)
      const roles = (await readRoles(tx, invitation)).map(role => role.id)
      const stations = [...(invitation.stations ?? [])]
      const userId = await insertUser(tx, { email, name, roles, stations, hash })
      if (credential) await insertPasskey(tx, userId, credential, '')
      await tx`update invitations set accepted_at = now() where id = ${invitation.id}`
      const session = await startSignInSession(tx, userId, request)
      const user = await readUser(tx, userId, request, config.BASE_URL)
      return {
        audit: [toUserAuditEntry(null, user, hash === null ? '' : 'password')],
        reply: await renderSignedInReply(tx, request, services, userId, session)
      }
    }
  }
})

export const invitationRoutes = [list, create, revoke, view, offer, join]
