import { bodySchema, bodyValidator } from '../../model/fields/validators.ts'
import { actionRoute } from '../core/actions.ts'
import { parseBody } from '../core/parse.ts'
import { apiRoute, jsonReply } from '../core/route.ts'
import { arrayOf, exactObject, string } from '../core/schemas.ts'
import { accountTag, getSignedInUser, getRequestUser } from './sessions.ts'
import {
  createUserKey,
  newUserKeyFields,
  readUserKey,
  renderUserKey,
  revokeUserKey,
  selectUserKeysFragment,
  type UserKeyRow,
  userKeyFields,
  userKeySchema
} from './user-keys.ts'

const path = '/api/frontend/account/api-keys'
const onePath = '/api/frontend/account/api-key'
const record = userKeySchema
const validator = bodyValidator(newUserKeyFields)

const list = apiRoute('GET', path, 'any key', {
  id: 'listMyApiKeys',
  tag: accountTag,
  summary: "The user's own API keys",
  response: arrayOf(record),
  async handle(request, { reads: sql, config }) {
    const rows = await sql<UserKeyRow[]>`
      ${selectUserKeysFragment(sql)} where u.id = ${getRequestUser(request).id} order by k.id limit 1000`
    return jsonReply(rows.map(row => renderUserKey(row, config.BASE_URL + onePath)))
  }
})

const read = apiRoute('GET', `${onePath}/:id`, 'any key', {
  id: 'getMyApiKey',
  tag: accountTag,
  summary: "One of the user's own API keys",
  response: record,
  async handle(request, { reads: sql, config }) {
    const row = await readUserKey(sql, request, getRequestUser(request).id)
    return jsonReply(renderUserKey(row, config.BASE_URL + onePath))
  }
})

const create = actionRoute('POST', path, 'any key', {
  id: 'createMyApiKey',
  tag: accountTag,
  summary: 'Create an API key that may always do what its user may do; only this response contains it',
  body: bodySchema(newUserKeyFields),
  response: exactObject({ key: string, ...userKeyFields }),
  errors: [409],
  prepare(request, { config }) {
    const { id: userId } = getSignedInUser(request)
    const values = parseBody(validator, request.body)
    return async tx => {
      await tx`select from users where id = ${userId} for update`
      return createUserKey(tx, userId, config.BASE_URL + onePath, values)
    }
  }
})

const revoke = actionRoute('DELETE', `${onePath}/:id`, 'any key', {
  id: 'revokeMyApiKey',
  tag: accountTag,
  summary: "Revoke one of the user's own API keys, by its first half or its number",
  prepare(request, { keys }) {
    const { id: userId } = getSignedInUser(request)
    return tx => revokeUserKey(tx, request, keys, { userId, message: 'Key revoked.' })
  }
})

export const ownKeyRoutes = [list, read, create, revoke]
