import { ApiError } from '../../../../platform/runtime/errors.ts'
import type { ConnectedListeners } from '../../../../radio/connected-listeners.ts'
import { string } from '../../../core/schemas.ts'
import type { OperationDialect, RecordDialect } from '../../record-dialect.ts'
import { schemaChanger, memberSchema } from '../../response-schema.ts'

type ListenerRow = { readonly location: object }

/** The place of a listener is unknown. AzuraCast describes it by text in any case. */
export const connectedListenerDialect: RecordDialect<ListenerRow> = {
  response: documented =>
    schemaChanger({
      fields: {
        location: schemaChanger({ fields: { description: string } })(memberSchema(documented, 'location'))
      }
    })(documented),
  render: rows => rows.map(row => ({ ...row, location: { ...row.location, description: '' } }))
}

/** Without a streaming server that is polled, AzuraCast lists nobody. */
export const listConnectedListenersDialect: OperationDialect = {
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
