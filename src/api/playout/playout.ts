import * as v from 'valibot'

import { skipCurrentSong } from '../../engine/playouts/commands.ts'
import { integerField } from '../../model/fields/field.ts'
import { bodySchema } from '../../model/fields/validators.ts'
import { stationActionRoute } from '../core/actions.ts'
import { parseBody } from '../core/parse.ts'
import { actionReply, getRequestStation } from '../core/route.ts'

const skipFields = {
  sh_id: integerField({
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
    about: 'The play to end, from now playing. 409 if another play is current.',
    example: 1
  })
}
/** Accepts an empty list too, which some clients send as an empty body. */
const skipValidator = v.object({ sh_id: v.optional(skipFields.sh_id.input) }, 'must be an object.')

const skip = stationActionRoute(
  'POST',
  '/api/station/:station_id/backend/skip',
  'manage station broadcasting',
  {
    id: 'skipSong',
    tag: 'Queue',
    summary: 'End the current song now',
    body: bodySchema(skipFields, { isPartial: true }),
    isBodyOptional: true,
    errors: [409],
    prepare(request) {
      const { sh_id: playId = null } = parseBody(skipValidator, request.body)
      return async change => {
        await skipCurrentSong(change, playId)
        return {
          audit: [{ record: 'Station', id: getRequestStation(request).id }],
          reply: actionReply('Song skipped.')
        }
      }
    }
  }
)

export const skipSongRoutes = [skip]
