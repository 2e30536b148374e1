import { ApiError } from '../../runtime/errors.ts'
import type { Permission } from '../auth/access.ts'
import { type ApiRoute, apiRoute } from '../core/route.ts'
import { ref } from '../core/schemas.ts'

/** Operations of AzuraCast about files that Cuewire has no use for, and what to do instead. */
const declared: readonly {
  readonly path: string
  readonly id: string
  readonly methods: readonly ApiRoute['method'][]
  readonly access: Permission
  readonly message: string
}[] = [
  {
    path: 'mount/:id/intro',
    id: 'MountIntro',
    methods: ['GET', 'POST', 'DELETE'],
    access: 'manage station mounts',
    message:
      'Icecast reads the intro of a mount from its own disk: put the file there and name it in <intro> of icecast.xml.'
  },
  {
    path: 'custom_assets/:type',
    id: 'CustomAsset',
    methods: ['GET', 'POST', 'DELETE'],
    access: 'manage station profile',
    message: 'The pages of Cuewire have no pictures of stations: embed the widget in a page of your own.'
  },
  {
    path: 'stereo-tool-configuration',
    id: 'StereoToolConfiguration',
    methods: ['GET', 'POST', 'DELETE'],
    access: 'manage station broadcasting',
    message: 'Stereo Tool is not supported: add it to a copy of the Liquidsoap script.'
  },
  {
    path: 'liquidsoap-config/import',
    id: 'LiquidsoapConfigImport',
    methods: ['POST'],
    access: 'manage station broadcasting',
    message: 'Custom Liquidsoap code is not supported: edit a copy of the script where Liquidsoap runs.'
  }
]

export const unavailableRoutes: readonly ApiRoute[] = declared.flatMap(
  ({ path, id, methods, access, message }) =>
    methods.map(method =>
      apiRoute(method, `/api/station/:station_id/${path}`, access, {
        id: `${method.toLowerCase()}${id}`,
        tag: 'Broadcasting',
        summary: `Not supported (501): ${message}`,
        answer: ref('ActionResult'),
        errors: [501],
        // A body is not read.
        ...(method === 'POST' ? { isStreamed: true } : {}),
        handle: () => {
          throw new ApiError('not-implemented', message)
        }
      })
    )
)
