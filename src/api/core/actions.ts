import { changeStation, type StationChange } from '../../engine/change-station.ts'
import type { Reply } from '../../http/route.ts'
import { beginWriteTransaction } from '../../stores/db/begin-for-station.ts'
import type { Tx } from '../../stores/db/sql.ts'
import { type AuditEntry, recordAudit } from './audit.ts'
import { type ApiRequest, type ApiRoute, apiRoute, getRequestStation } from './route.ts'
import { schemaRef } from './schemas.ts'
import type { ApiServices } from './services.ts'

/** What an action did in its transaction. */
export interface ActionResult {
  /** Its entries of the audit log; none if nothing has changed. */
  readonly audit: readonly AuditEntry[]
  /** A function is called after the commit. */
  readonly reply: Reply | (() => Reply | Promise<Reply>)
}

type Work<Subject> = (subject: Subject) => Promise<ActionResult>

type Declared = Parameters<typeof apiRoute>[3]

interface Action<Subject> extends Omit<Declared, 'response' | 'handle'> {
  /** The default is the result of an action. */
  readonly response?: Declared['response']
  /** Reads the request, and does what must not be in a transaction. Returns what to do in it. */
  readonly prepare: (request: ApiRequest, services: ApiServices) => Work<Subject> | Promise<Work<Subject>>
}

/** Runs a change in a transaction, which writes its audit entries as well. */
export async function runAction(request: ApiRequest, services: ApiServices, work: Work<Tx>): Promise<Reply> {
  const stationId = request.caller?.station?.id ?? null
  return finish(
    await beginWriteTransaction(services.sql, stationId, async tx =>
      recordResult(tx, request, await work(tx))
    )
  )
}

/** Runs a change of the station in the path. */
export async function runStationAction(
  request: ApiRequest,
  services: ApiServices,
  work: Work<StationChange>
): Promise<Reply> {
  return finish(
    await changeStation(services, getRequestStation(request).id, async change =>
      recordResult(change.tx, request, await work(change))
    )
  )
}

const openActionRoute =
  <Subject>(run: (request: ApiRequest, services: ApiServices, work: Work<Subject>) => Promise<Reply>) =>
  (
    method: ApiRoute['method'],
    path: string,
    access: ApiRoute['access'],
    { prepare, response = schemaRef('ActionResult'), ...declared }: Action<Subject>
  ): ApiRoute =>
    apiRoute(method, path, access, {
      ...declared,
      response,
      handle: async (request, services) => run(request, services, await prepare(request, services))
    })

/** A route that changes something. */
export const actionRoute = openActionRoute(runAction)

/** A route that changes what its station shows. */
export const stationActionRoute = openActionRoute(runStationAction)

async function recordResult(tx: Tx, request: ApiRequest, result: ActionResult): Promise<ActionResult> {
  for (const entry of result.audit) await recordAudit(tx, request, entry)
  return result
}

const finish = ({ reply }: ActionResult) => (typeof reply === 'function' ? reply() : reply)
