import { changeStation, type StationChange } from '../../engine/change-station.ts'
import { type AuditEntry, recordAudit } from './audit.ts'
import { actionReply, type ApiRequest, type ApiRoute, apiRoute, type Operation, stationOf } from './route.ts'
import { ref } from './schemas.ts'

interface StationAction extends Omit<Operation, 'answer'> {
  /** Reads the request before the transaction. May throw `ApiError`. */
  readonly prepare: (request: ApiRequest) => {
    readonly audit: AuditEntry
    /** The message of the response. */
    readonly message: string
    readonly change: (change: StationChange) => Promise<unknown>
  }
}

/** A route that changes its station and writes the audit entry in the same transaction. */
export function stationAction(
  method: ApiRoute['method'],
  path: string,
  access: ApiRoute['access'],
  { prepare, ...operation }: StationAction
): ApiRoute {
  return apiRoute(method, path, access, {
    ...operation,
    answer: ref('ActionResult'),
    async handle(request, services) {
      const { audit, message, change } = prepare(request)
      await changeStation(services, stationOf(request).id, async stationChange => {
        await change(stationChange)
        await recordAudit(stationChange.tx, request, audit)
      })
      return actionReply(message)
    }
  })
}
