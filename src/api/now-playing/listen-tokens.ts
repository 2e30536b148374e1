import { integerField, textField } from '../../model/fields/field.ts'
import { bodySchema, bodyValidator } from '../../model/fields/validators.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import { stationActionRoute } from '../core/actions.ts'
import { changedWithoutValues } from '../core/audit.ts'
import { parseBody } from '../core/parse.ts'
import { actionReply, apiRoute, jsonReply, getRequestStation } from '../core/route.ts'
import { exactObject, int64, namedSchema, string, unixSeconds } from '../core/schemas.ts'

const path = '/api/station/:station_id/listen-tokens'
const tag = 'Listen tokens'
/** Who may change what the public pages of a station show may also decide who sees them. */
const access = 'manage station profile'

const fields = {
  expires_in: integerField({
    min: 10,
    max: 86_400,
    fallback: 3_600,
    about: 'Seconds until the token expires.'
  }),
  subject: textField({
    max: 64,
    fallback: '',
    about: 'Whom the token is for. It is part of the token, which is signed and not encrypted.',
    example: 'member 4711'
  })
}
const bodyOf = bodyValidator(fields)

const listenTokenSchema = namedSchema(
  'ListenToken',
  'A token that lets a listener hear a private station.',
  exactObject({
    token: { ...string, pattern: '^lt1_[A-Za-z0-9_-]+$', description: 'Returned once, and not stored.' },
    expires_in: { ...int64, description: 'Seconds' },
    expires_at: unixSeconds,
    subject: string,
    player_url: { ...string, format: 'uri', description: 'The player page, with the token.' }
  })
)

const create = apiRoute('POST', path, access, {
  id: 'createListenToken',
  tag,
  summary:
    'Create a token with which a listener may follow the station, also if it is private, until it expires',
  body: bodySchema(fields, { isPartial: true }),
  isBodyOptional: true,
  response: listenTokenSchema,
  async handle(request, { reads: sql, listenTokens, config }) {
    const { expires_in: expiresIn, subject } = parseBody(bodyOf, request.body)
    const [station] = await sql<{ generation: number; shortName: string }[]>`
      select listen_token_generation as generation, short_name as "shortName" from stations
      where id = ${getRequestStation(request).id} and deleted_at is null`
    if (!station) throw new ApiError('not-found')
    const { generation, shortName } = station
    const expiresAt = Math.floor(engineTimeMs() / 1_000) + expiresIn
    const claims = {
      stationId: getRequestStation(request).id,
      endsAtMs: expiresAt * 1_000,
      generation,
      subject
    }
    const token = listenTokens.issue(claims)
    const url = new URL(`${config.BASE_URL}/public/${encodeURIComponent(shortName)}`)
    url.searchParams.set('token', token)
    return jsonReply({ token, expires_in: expiresIn, expires_at: expiresAt, subject, player_url: url.href })
  }
})

const revokeAll = stationActionRoute('DELETE', path, access, {
  id: 'revokeListenTokens',
  tag,
  summary: 'Revoke all listen tokens of the station; their connections are closed within a second',
  prepare(request) {
    const stationId = getRequestStation(request).id
    return async change => {
      change.send([
        change.tx`update stations set listen_token_generation = listen_token_generation + 1 where id = ${stationId}`
      ])
      change.mark(['station'])
      return {
        audit: [
          { record: 'Station', id: stationId, changes: changedWithoutValues('listen_token_generation') }
        ],
        reply: actionReply('Listen tokens revoked.')
      }
    }
  }
})

export const listenTokenRoutes = [create, revokeAll]
