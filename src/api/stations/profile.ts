import { bodySchema } from '../../model/fields/validators.ts'
import { renderStationObject } from '../../model/station/now-playing.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import { readServiceStatus, serviceStatusSchema } from '../broadcasting/services.ts'
import { renderedFieldSchemas } from '../core/resource-routes.ts'
import { actionReply, type ApiRequest, apiRoute, jsonReply, getRequestStation } from '../core/route.ts'
import { arrayOf, exactObject, namedSchema, schemaRef } from '../core/schemas.ts'
import { readScheduleEntries } from '../playlists/schedule.ts'
import { stationReads, stationsResource, updateStation } from './stations.ts'

const path = '/api/station/:station_id/profile'
const tag = 'Stations'
const dayMs = 86_400_000
const shownEntries = 5

const stationProfileSchema = namedSchema(
  'StationProfile',
  'A station, what of it runs and what is scheduled.',
  exactObject({
    station: schemaRef('StationSummary'),
    services: serviceStatusSchema,
    schedule: {
      ...arrayOf(schemaRef('ScheduleEntry')),
      description: `At most ${shownEntries}, those active now first.`
    }
  })
)

const profile = apiRoute('GET', path, 'view station management', {
  id: 'getStationProfile',
  tag,
  summary: 'The station, whether its services run, and what is scheduled within a day',
  responseRecord: 'StationProfile',
  response: stationProfileSchema,
  async handle(request, services) {
    const { id } = getRequestStation(request)
    const state = services.live.findState(id)
    if (!state)
      throw new ApiError('unavailable', 'The state of the station is not available yet: try again later.')
    const fromMs = engineTimeMs()
    const { timezone } = state.profile
    const [running, schedule] = await Promise.all([
      readServiceStatus(services, id),
      readScheduleEntries(services.reads, { id, timezone }, fromMs, fromMs + dayMs)
    ])
    return jsonReply({
      station: renderStationObject(state, services.config.BASE_URL),
      services: running,
      schedule: schedule.slice(0, shownEntries)
    })
  }
})

/** Fields that only administrators change: addresses, limits, storage, and what plays the station. */
const administered = new Set([
  'short_name',
  'frontend',
  'backend',
  'frontend_url',
  'frontend_admin_password',
  'is_enabled',
  'max_bitrate',
  'max_hls_streams',
  'media_storage_location_id',
  'recordings_storage_location_id',
  'podcasts_storage_location_id'
])

const editable = Object.fromEntries(
  Object.entries(stationsResource.fields).filter(([name]) => !administered.has(name))
)

const pick = (record: object) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => Object.hasOwn(editable, name)))

const editableProfileSchema = namedSchema(
  'EditableProfile',
  'The settings of a station that its operators may change.',
  exactObject({ ...renderedFieldSchemas(editable) })
)

const access = 'manage station profile'

const read = apiRoute('GET', `${path}/edit`, access, {
  id: 'getEditableProfile',
  tag,
  summary: 'The settings of the station that its managers may change',
  responseRecord: 'EditableProfile',
  response: editableProfileSchema,
  async handle(request, services) {
    // The station is the record itself, not what the record belongs to.
    const record = await stationReads.read(services, request, null, getRequestStation(request).id)
    return jsonReply(pick(record ?? {}))
  }
})

const write = apiRoute('PUT', `${path}/edit`, access, {
  id: 'editProfile',
  tag,
  summary: 'Change settings of the station; fields that the body omits keep their values',
  bodyRecord: 'EditableProfile',
  body: bodySchema(editable, { isPartial: true }),
  response: schemaRef('ActionResult'),
  async handle(request, services) {
    await updateStation(services, request, getRequestStation(request).id, editableIn(request))
    return actionReply('Changes saved successfully.')
  }
})

/** The fields of a body that may be changed here; the response names the others as ignored. */
function editableIn({ body }: ApiRequest): object {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new ApiError('invalid')
  return pick(body)
}

export const profileRoutes = [profile, read, write]
