import {
  type StationAudioSlot,
  openStationFolder,
  removeStationAudio,
  storeStationAudio
} from '../../library/uploads/station-audio.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import type { Tx } from '../../stores/db/sql.ts'
import { type AuditEntry, recordAudit } from '../core/audit.ts'
import { actionReply, type ApiRequest, type ApiRoute, apiRoute, getRequestStation } from '../core/route.ts'
import { schemaRef } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { sendStoredFile } from './file-content.ts'
import { withReceivedFile } from './uploads/received-file.ts'

interface RouteText {
  readonly id: string
  readonly summary: string
}

interface AudioRoutesOptions {
  readonly path: string
  readonly tag: string
  readonly maxMebibytes: number
  readonly write: ApiRoute['access']
  readonly download: RouteText & { readonly path: string; readonly access: ApiRoute['access'] }
  readonly set: RouteText
  readonly remove: RouteText
  /** Reads the name of the stored file; empty if there is none. Throws 404 for an unknown record. */
  readonly readName: (request: ApiRequest, services: ApiServices) => Promise<string>
  readonly findSlot: (request: ApiRequest) => StationAudioSlot
  /** The record whose file it is, and the name of its field in the audit log. */
  readonly audit: (
    request: ApiRequest,
    tx: Tx
  ) => Promise<Omit<AuditEntry, 'changes'> & { readonly field: string }>
  /** The message of the 404 of a download without a file. */
  readonly missing: string
}

/** The routes that download, set and remove an audio file of a station that is not a song of its library. */
export const stationAudioRoutes = ({
  path,
  tag,
  maxMebibytes,
  write,
  download,
  set,
  remove,
  readName,
  findSlot,
  audit,
  missing
}: AudioRoutesOptions) => {
  const slotOf = (request: ApiRequest): StationAudioSlot => {
    const slot = findSlot(request)
    return {
      ...slot,
      async replaceName(tx, name) {
        const former = await slot.replaceName(tx, name)
        const { field, ...record } = await audit(request, tx)
        await recordAudit(tx, request, { ...record, changes: { [field]: { from: former, to: name } } })
        return former
      }
    }
  }
  return [
    apiRoute('GET', download.path, download.access, {
      id: download.id,
      summary: `${download.summary}; ranges are possible`,
      tag,
      response: { type: 'string', format: 'binary' },
      contentTypes: ['application/octet-stream'],
      errors: [404, 416],
      headers: ['range'],
      async handle(request, services) {
        const name = await readName(request, services)
        if (name === '') throw new ApiError('not-found', missing)
        return sendStoredFile(
          request,
          () => openStationFolder(services, getRequestStation(request).id),
          name,
          name
        )
      }
    }),
    apiRoute('POST', path, write, {
      id: set.id,
      summary: `${set.summary} (a form with \`file\`, or the bytes; at most ${maxMebibytes} MiB)`,
      tag,
      response: schemaRef('ActionResult'),
      errors: [413, 507],
      isStreamed: true,
      headers: ['content-type'],
      async handle(request, services) {
        // Before the file is received: the record may not exist.
        await readName(request, services)
        await withReceivedFile(request, services, maxMebibytes * 2 ** 20, file =>
          storeStationAudio(services, getRequestStation(request).id, slotOf(request), file)
        )
        return actionReply('Record updated successfully.')
      }
    }),
    apiRoute('DELETE', path, write, {
      ...remove,
      tag,
      response: schemaRef('ActionResult'),
      async handle(request, services) {
        await removeStationAudio(services, getRequestStation(request).id, slotOf(request))
        return actionReply('Record deleted successfully.')
      }
    })
  ]
}
