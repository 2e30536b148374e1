import { createHash, randomBytes } from 'node:crypto'

import { beginForStation } from '../db/station-transaction.ts'
import { recordAudit } from './audit.ts'
import { type ApiRoute, json, stationOf } from './route.ts'
import { exactly } from './schemas.ts'

/** What is kept of a playout's key. */
export function playoutKeyHash(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

/** The schema of what is answered. */
export const playoutKeySchema = exactly({
  success: { type: 'boolean' },
  message: { type: 'string' },
  formatted_message: { type: 'string', description: 'HTML' },
  playout_key: { type: 'string', description: 'The new key; it is shown here only.' }
})

const message = 'The playout key was replaced.'

const replace: ApiRoute = {
  method: 'POST',
  path: '/api/station/:station_id/playout-key',
  access: 'manage station broadcasting',
  operation: {
    id: 'replacePlayoutKey',
    tag: 'Playout',
    summary: 'Make the key that the playout of a station calls with; the former one fits no longer',
    answer: { $ref: '#/components/schemas/PlayoutKey' }
  },
  async handle(request, { sql }) {
    const { id } = stationOf(request)
    const key = randomBytes(24).toString('hex')
    await beginForStation(sql, id, async tx => {
      await tx`update stations set playout_key = ${playoutKeyHash(key)} where id = ${id}`
      await recordAudit(tx, request, { record: 'Station', id, fields: ['playout_key'] })
    })
    return json({ success: true, message, formatted_message: message, playout_key: key })
  }
}

export const playoutKeyRoutes = [replace]
