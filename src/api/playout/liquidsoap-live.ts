import { recordDjDisconnect, recordDjConnect } from '../../engine/plays/broadcasts.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { findStreamer } from '../../stores/db/stations.ts'
import { jsonReply } from '../core/route.ts'
import { exactObject } from '../core/schemas.ts'
import { verifyStreamerLogin } from '../streamers/streamer-login.ts'
import { definePlayoutRoutes, parseReportedTime } from './playout-caller.ts'

const eventFields = { user: 'The user name.', ago: 'Seconds since the event; the default is 0.' }

const login = definePlayoutRoutes({
  name: 'auth',
  summary: 'Check whether a streamer may go live',
  body: {
    user: 'The user name. If it is empty or `source`, the password may be `name,password`.',
    password: 'The password.',
    address: 'The IP address of the streamer.'
  },
  response: {
    oneOf: [
      exactObject({
        allow: { type: 'boolean', const: true },
        username: { type: 'string' },
        display_name: { type: 'string' }
      }),
      exactObject({ allow: { type: 'boolean', const: false } })
    ]
  },
  errors: [429],
  async handle({ station, body }, { reads: sql, secrets, redis }) {
    const { user = '', password = '', address = '' } = body
    const credentials = { user, password, address }
    const allowed = await verifyStreamerLogin(
      { sql, secrets, redis },
      station.id,
      credentials,
      engineTimeMs()
    )
    if (!allowed) return jsonReply({ allow: false })
    return jsonReply({ allow: true, username: allowed.username, display_name: allowed.displayName })
  }
})

const connected = definePlayoutRoutes({
  name: 'djon',
  summary: 'Report that a streamer went live; false if the streamer is unknown or not allowed',
  body: eventFields,
  response: { type: 'boolean' },
  errors: [409],
  async handle({ station, body }, services) {
    const { user: username = '' } = body
    const streamer = await findStreamer(services.reads, station.id, username)
    if (!streamer?.mayBeLive) return jsonReply(false)
    const allowed = { username, displayName: streamer.displayName, streamerId: streamer.id }
    const atMs = parseReportedTime(body['ago'], engineTimeMs())
    await recordDjConnect(services, station.id, allowed, atMs)
    return jsonReply(true)
  }
})

const disconnected = definePlayoutRoutes({
  name: 'djoff',
  summary: 'Report that a streamer disconnected',
  body: eventFields,
  response: { type: 'boolean', const: true },
  async handle({ station, body }, services) {
    const { user: username = '' } = body
    const atMs = parseReportedTime(body['ago'], engineTimeMs())
    await recordDjDisconnect(services, station.id, { username, atMs })
    return jsonReply(true)
  }
})

export const liquidsoapLiveRoutes = [...login, ...connected, ...disconnected]
