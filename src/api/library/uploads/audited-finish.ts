import { type FinishedUpload, finishUpload } from '../../../library/uploads/finish.ts'
import type { Upload } from '../../../library/uploads/uploads.ts'
import { recordAudit, changed } from '../../core/audit.ts'
import type { ApiRequest } from '../../core/route.ts'
import type { ApiServices } from '../../core/services.ts'

/** Stores the file of an upload and adds it to the library, with the audit entry of the request. */
export const finishWithAudit = (
  request: ApiRequest,
  services: ApiServices,
  upload: Upload
): Promise<FinishedUpload> =>
  finishUpload(services, upload, {
    recordAudit: (tx, id) =>
      recordAudit(tx, request, { record: 'StationFile', id, name: upload.path, changes: changed('file') })
  })
