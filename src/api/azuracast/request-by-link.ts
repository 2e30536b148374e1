import { keyVary } from '../../model/station/public-headers.ts'
import type { HandledRoute } from '../core/route.ts'
import { requestSong, submitRequestRoute } from '../queue/requests.ts'

/** In AzuraCast, `request_url` is a link. */
export const requestByLinkRoute: HandledRoute = {
  method: 'GET',
  path: submitRequestRoute.path,
  access: 'public',
  onlyIn: 'azuracast',
  changes: true,
  needsAddress: true,
  async handle(request, services) {
    return {
      ...(await requestSong(request, services)),
      headers: { ...keyVary, 'Cache-Control': 'no-store' }
    }
  }
}
