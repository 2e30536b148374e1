import type { Reply } from '../../http/route.ts'
import { actionReply, type ApiRequest, type ApiRoute, apiRoute } from '../core/route.ts'
import { schemaRef } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { pictureBodyTypes, readPictureBody, type ReceivedPicture } from './picture-body.ts'

interface RouteText {
  readonly id: string
  readonly summary: string
}

interface PictureRoutesOptions {
  readonly path: string
  readonly access: ApiRoute['access']
  readonly tag: string
  readonly maxBytes: number
  readonly set: RouteText
  readonly remove: RouteText
  /** Runs an action that stores the picture of the record in the path, or removes it (null). Throws 404. */
  readonly store: (
    request: ApiRequest,
    services: ApiServices,
    picture: ReceivedPicture | null,
    reply: Reply
  ) => Promise<Reply>
}

/** The routes that set and remove the picture of a record. */
export const pictureRoutes = ({ path, access, tag, maxBytes, set, remove, store }: PictureRoutesOptions) => [
  apiRoute('POST', path, access, {
    ...set,
    tag,
    body: { type: 'string', format: 'binary' },
    response: schemaRef('ActionResult'),
    byteTypes: pictureBodyTypes,
    isStreamed: true,
    headers: ['content-type'],
    handle: async (request, services) =>
      store(
        request,
        services,
        await readPictureBody(request, maxBytes),
        actionReply('Record updated successfully.')
      )
  }),
  apiRoute('DELETE', path, access, {
    ...remove,
    tag,
    response: schemaRef('ActionResult'),
    handle: (request, services) => store(request, services, null, actionReply('Record deleted successfully.'))
  })
]
