import { findStreamer } from '../../db/stations.ts'
import { disconnectStreamer, connectStreamer } from '../../playout/plays/broadcasts.ts'
import { engineTimeMs } from '../../runtime/engine-time.ts'
import { json } from '../core/route.ts'
import { exactly } from '../core/schemas.ts'
import { loginStreamer } from '../streamers/streamer-login.ts'
import { reportedTime, playoutRoutesOf } from './playout-caller.ts'

const yesOrNo = { type: 'boolean' }
const moment = { user: 'Who.', ago: 'Seconds since it happened; without it, it happened now.' }

const login = playoutRoutesOf({
  name: 'auth',
  summary: 'Whether somebody may go live',
  body: {
    user: 'The user name; with `source` or none, the password may be `name,password`.',
    password: 'The password.',
    address: 'Where the streamer comes from.'
  },
  answer: {
    oneOf: [
      exactly({
        allow: { type: 'boolean', const: true },
        username: { type: 'string' },
        display_name: { type: 'string' }
      }),
      exactly({ allow: { type: 'boolean', const: false } })
    ]
  },
  errors: [429],
  async handle({ station, body }, { reads: sql, secrets }) {
    const { user = '', password = '', address = '' } = body
    const allowed = await loginStreamer(
      { sql, secrets },
      station.id,
      { user, password, address },
      engineTimeMs()
    )
    if (!allowed) return json({ allow: false })
    return json({ allow: true, username: allowed.username, display_name: allowed.displayName })
  }
})

const connected = playoutRoutesOf({
  name: 'djon',
  summary: 'A streamer has gone live; false for an unknown one, and where nobody may',
  body: moment,
  answer: yesOrNo,
  errors: [409],
  async handle({ station, body }, services) {
    const { user: username = '' } = body
    const streamer = await findStreamer(services.reads, station.id, username)
    if (!streamer?.mayBeLive) return json(false)
    const { id: streamerId, displayName } = streamer
    await connectStreamer(
      services,
      station.id,
      { username, displayName, streamerId },
      reportedTime(body['ago'], engineTimeMs())
    )
    return json(true)
  }
})

const disconnected = playoutRoutesOf({
  name: 'djoff',
  summary: 'A streamer is live no more',
  body: moment,
  answer: { type: 'boolean', const: true },
  async handle({ station, body }, services) {
    const { user: username = '' } = body
    await disconnectStreamer(services, station.id, {
      username,
      atMs: reportedTime(body['ago'], engineTimeMs())
    })
    return json(true)
  }
})

export const liquidsoapLiveRoutes = [...login, ...connected, ...disconnected]
