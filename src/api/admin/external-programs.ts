import type { JsonSchema } from '../../model/fields/field.ts'
import { type ApiRoute, apiRoute, jsonReply } from '../core/route.ts'
import { boolean, exactObject } from '../core/schemas.ts'

const nothing = { type: 'null', description: 'Always null: it is not installed by Cuewire.' }
const tag = 'Settings'

/** A route that reports a program or database as not installed. */
function statusRoute(
  name: string,
  id: string,
  title: string,
  fields: Readonly<Record<string, JsonSchema>>,
  values: object
): ApiRoute {
  return apiRoute('GET', `/api/admin/${name}`, 'administer settings', {
    id,
    tag,
    summary: `The installed version of ${title}: none, since Cuewire installs no other programs`,
    response: exactObject(fields),
    handle: () => jsonReply(values)
  })
}

const none = { version: null }

/** The programs and databases that AzuraCast can install. */
export const externalProgramRoutes = [
  statusRoute('shoutcast', 'getShoutcastStatus', 'Shoutcast', { version: nothing }, none),
  statusRoute(
    'rsas',
    'getRsasStatus',
    'RSAS',
    { version: nothing, hasLicense: boolean },
    { ...none, hasLicense: false }
  ),
  statusRoute('stereo_tool', 'getStereoToolStatus', 'Stereo Tool', { version: nothing }, none),
  statusRoute(
    'geolite',
    'getGeoLiteStatus',
    'GeoLite',
    { version: nothing, key: nothing },
    { ...none, key: null }
  )
]
