import { ApiError } from '../../../../platform/runtime/errors.ts'
import type { ConnectedListeners } from '../../../../radio/connected-listeners.ts'
import { string } from '../../../core/schemas.ts'
import type { OperationDialect, RecordDialect } from '../../record-dialect.ts'
import { changeSchema, memberOf } from '../../response-schema.ts'

type ListenerRow = { readonly location: object }

/** The place of a listener is unknown. AzuraCast describes it by text in any case. */
export const connectedListener: RecordDialect<ListenerRow> = {
  response: documented =>
    changeSchema({
      fields: {
        location: changeSchema({ fields: { description: string } })(memberOf(documented, 'location'))
      }
    })(documented),
  render: rows => rows.map(row => ({ ...row, location: { ...row.location, description: '' } }))
}

/** Without a streaming server that is polled, AzuraCast lists nobody. */
export const listConnectedListeners: OperationDialect = {
  handle: (request, services, documented) =>
    documented(request, {
      ...services,
      connectedListeners: stationId => services.connectedListeners(stationId).catch(listNobody)
    })
}

function listNobody(error: unknown): ConnectedListeners {
  if (!(error instanceof ApiError) || error.kind !== 'conflict') throw error
  return { atMs: Date.now(), listeners: [], sources: [], problem: '' }
}
