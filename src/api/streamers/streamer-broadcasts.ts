import { basename } from 'node:path'

import type { Reply } from '../../http/route.ts'
import { openRecordingStore, toFileApiError } from '../../library/uploads/media-store.ts'
import { getTimeZone } from '../../model/autodj/time-zone.ts'
import { integerField, listField, choiceField } from '../../model/fields/field.ts'
import { bodySchema, bodyValidator } from '../../model/fields/validators.ts'
import { withDeadline } from '../../platform/runtime/deadline.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import type { Fragment, Sql, Tx } from '../../stores/db/sql.ts'
import { actionRoute, type ActionResult } from '../core/actions.ts'
import { listRoute } from '../core/list-route.ts'
import { newestRowsLimitFragment } from '../core/list.ts'
import { formatLocalIsoTime } from '../core/moments.ts'
import { parseBody, parsePathId } from '../core/parse.ts'
import {
  actionReply,
  type ApiRequest,
  apiRoute,
  type ApiRoute,
  jsonReply,
  type PathStation,
  getRequestStation
} from '../core/route.ts'
import { arrayOf, boolean, exactObject, int64, namedSchema, string } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { sendStoredFile } from '../library/file-content.ts'

const path = '/api/station/:station_id/streamer/:id'
const access = 'manage station streamers'
const tag = 'Streamers'
const localTime = { ...string, format: 'date-time' }

const streamerBroadcastSchema = namedSchema(
  'StreamerBroadcast',
  'A live broadcast of a streamer, with its recording.',
  exactObject({
    id: int64,
    timestampStart: { ...localTime, description: 'Local time of the station.' },
    timestampEnd: { ...localTime, type: ['string', 'null'], description: 'Null: it has not ended.' },
    streamer: {
      oneOf: [
        exactObject({ id: int64, streamer_username: string, display_name: string }),
        { type: 'null', description: 'The user source, or a deleted streamer.' }
      ]
    },
    recording: {
      oneOf: [
        exactObject({ path: string, size: { ...int64, description: 'Bytes.' }, downloadUrl: string }),
        { type: 'null', description: 'There is no recording, or its storage cannot be used.' }
      ]
    },
    links: exactObject({ delete: string })
  })
)

interface BroadcastRow {
  readonly id: number
  readonly startedAtMs: number
  readonly endedAtMs: number | null
  /** This and the names are null if the streamer was deleted. */
  readonly streamerId: number | null
  readonly username: string | null
  readonly displayName: string | null
  readonly recordingPath: string
  readonly timezone: string
}

/** Adds what is shown to broadcasts. */
const shownBroadcasts = (sql: Sql, broadcasts: Fragment): Fragment => sql`
  select b.id, b.started_at_ms as "startedAtMs", b.ended_at_ms as "endedAtMs", u.id as "streamerId",
    u.streamer_username as username, u.display_name as "displayName", b.recording_path as "recordingPath",
    s.timezone
  from (${broadcasts}) b join stations s on s.id = b.station_id left join streamers u on u.id = b.streamer_id
  order by b.id desc`

const list = listRoute(`${path}/broadcasts`, access, {
  id: 'listStreamerBroadcasts',
  tag,
  summary: 'The broadcasts of a streamer, newest first',
  responseRecord: 'StreamerBroadcast',
  record: streamerBroadcastSchema,
  async open(_query, request, services) {
    const { reads: sql } = services
    const station = getRequestStation(request)
    const streamerId = parsePathId(request.params['id'])
    const [streamer] =
      await sql`select from streamers where id = ${streamerId} and station_id = ${station.id}`
    if (!streamer) throw new ApiError('not-found')
    // In the order of an index that starts with the station: see "walks an index of all stations" in docs/gotchas.md.
    const newest = sql`
      select * from broadcasts where station_id between ${station.id} and ${station.id}
      order by station_id, id desc ${newestRowsLimitFragment(sql)}`
    const broadcasts = sql`select * from (${newest}) b where streamer_id = ${streamerId}`
    return {
      select: broadcasts,
      expand: page => shownBroadcasts(sql, page),
      matching: broadcasts,
      render: (rows: readonly BroadcastRow[]) => renderBroadcasts(rows, station, streamerId, services)
    }
  }
})

async function renderBroadcasts(
  rows: readonly BroadcastRow[],
  station: PathStation,
  streamerId: number,
  services: ApiServices
) {
  const paths = rows.map(({ recordingPath }) => recordingPath).filter(recording => recording !== '')
  const sizes = await readRecordingSizes(paths, station.id, services)
  return rows.map(row => {
    const { id, startedAtMs, endedAtMs, recordingPath } = row
    const zone = getTimeZone(row.timezone)
    const self = `${services.config.BASE_URL}/api/station/${station.id}/streamer/${streamerId}/broadcast/${id}`
    const size = sizes.get(recordingPath)
    return {
      id,
      timestampStart: formatLocalIsoTime(zone, startedAtMs),
      timestampEnd: endedAtMs === null ? null : formatLocalIsoTime(zone, endedAtMs),
      streamer:
        row.streamerId === null
          ? null
          : { id: row.streamerId, streamer_username: row.username, display_name: row.displayName },
      recording: size === undefined ? null : { path: recordingPath, size, downloadUrl: `${self}/download` },
      links: { delete: self }
    }
  })
}

/** Shorter than the deadline of a request, which is answered without recordings then. */
const recordingsTimeoutMs = 5_000

/** Reads the sizes of recordings by path, without those that are missing: none if their storage cannot be used. */
export async function readRecordingSizes(
  paths: readonly string[],
  stationId: number,
  services: ApiServices
): Promise<ReadonlyMap<string, number>> {
  if (paths.length === 0) return new Map()
  try {
    return await withDeadline(recordingsTimeoutMs, 'reading the sizes of recordings', async () => {
      const { files } = await openRecordingStore(services, stationId)
      const found = await Promise.all(
        paths.map(async each => [each, (await files.stat(each))?.sizeBytes] as const)
      )
      return new Map(found.flatMap(([each, size]) => (size === undefined ? [] : [[each, size]])))
    })
  } catch (error) {
    services.log.warn(
      { err: error, station: stationId },
      'recordings not read; broadcasts listed without them'
    )
    return new Map()
  }
}

/** Reads the broadcast in the path. Throws 404. */
async function getBroadcast({ reads: sql }: ApiServices, request: ApiRequest) {
  const [found] = await sql<{ id: number; recordingPath: string }[]>`
    select id, recording_path as "recordingPath" from broadcasts
    where id = ${parsePathId(request.params['broadcast_id'])} and station_id = ${getRequestStation(request).id}
      and streamer_id = ${parsePathId(request.params['id'])}`
  if (!found) throw new ApiError('not-found')
  return found
}

const download = apiRoute('GET', `${path}/broadcast/:broadcast_id/download`, access, {
  id: 'downloadBroadcast',
  tag,
  summary: 'The recording of a broadcast; ranges are possible',
  response: { type: 'string', format: 'binary' },
  contentTypes: ['application/octet-stream'],
  errors: [404, 416, 501],
  headers: ['range'],
  async handle(request, services) {
    const { recordingPath } = await getBroadcast(services, request)
    if (recordingPath === '') throw new ApiError('not-found', 'The broadcast was not recorded.')
    const open = () => openRecordingStore(services, getRequestStation(request).id)
    return sendStoredFile(request, open, recordingPath, basename(recordingPath))
  }
})

interface DeletedBroadcast {
  readonly id: number
  readonly title: string
}

/** Deletes broadcasts of a streamer and their recordings. `render` makes the response of those that were deleted. */
function deleteBroadcasts(
  request: ApiRequest,
  services: ApiServices,
  ids: readonly number[],
  render: (deleted: readonly DeletedBroadcast[]) => Reply
) {
  const { id: stationId } = getRequestStation(request)
  const streamerId = parsePathId(request.params['id'])
  return async (tx: Tx): Promise<ActionResult> => {
    const found = await tx<{ id: number; title: string; recordingPath: string; isOpen: boolean }[]>`
      select id, streamer_name as title, recording_path as "recordingPath", ended_at_ms is null as "isOpen"
      from broadcasts
      where station_id = ${stationId} and streamer_id = ${streamerId} and id = any(${[...ids]}::bigint[])
      order by id for update`
    if (found.some(({ isOpen }) => isOpen))
      throw new ApiError('conflict', 'The broadcast has not ended: disconnect the streamer first.')
    await tx`delete from broadcasts where id = any(${found.map(({ id }) => id)}::bigint[])`
    return {
      audit: found.map(({ id, title }) => ({ record: 'Broadcast', id, name: title })),
      async reply() {
        await removeRecordings(services, stationId, found)
        return render(found.map(({ id, title }) => ({ id, title })))
      }
    }
  }
}

async function removeRecordings(
  services: ApiServices,
  stationId: number,
  broadcasts: readonly { readonly recordingPath: string }[]
): Promise<void> {
  const paths = broadcasts.map(({ recordingPath }) => recordingPath).filter(each => each !== '')
  if (paths.length === 0) return
  try {
    const { files } = await openRecordingStore(services, stationId)
    await Promise.all(paths.map(each => files.remove(each)))
  } catch (error) {
    throw toFileApiError(error)
  }
}

const remove = actionRoute('DELETE', `${path}/broadcast/:broadcast_id`, access, {
  id: 'deleteBroadcast',
  tag,
  summary: 'Delete a broadcast that has ended, with its recording',
  errors: [409],
  async prepare(request, services) {
    const { id } = await getBroadcast(services, request)
    return deleteBroadcasts(request, services, [id], () => actionReply('Record deleted successfully.'))
  }
})

const broadcastId = integerField({ min: 1, max: Number.MAX_SAFE_INTEGER, about: 'id' })
const batchFields = {
  do: choiceField(['delete'], { about: 'What to do with them.' }),
  rows: listField<number>(broadcastId.input, {
    max: 1_000,
    items: broadcastId.schema,
    about: 'The ids of broadcasts of the streamer.'
  })
}
const batchValidator = bodyValidator(batchFields)

const batchResultSchema = namedSchema(
  'BatchResult',
  'What a batch changed.',
  exactObject({
    success: boolean,
    errors: arrayOf(string),
    records: arrayOf(exactObject({ id: int64, title: string }))
  })
)

const batch = (method: 'PUT' | 'POST'): ApiRoute =>
  actionRoute(method, `${path}/broadcasts/batch`, access, {
    id: method === 'POST' ? 'batchBroadcasts' : 'putBatchBroadcasts',
    tag,
    summary: 'Delete broadcasts of a streamer that have ended, with their recordings',
    body: bodySchema(batchFields),
    response: batchResultSchema,
    errors: [409],
    prepare(request, services) {
      const { rows } = parseBody(batchValidator, request.body)
      return deleteBroadcasts(request, services, rows, records => {
        const found = new Set(records.map(({ id }) => id))
        const errors = rows.filter(id => !found.has(id)).map(id => `Broadcast ${id} does not exist.`)
        return jsonReply({ success: errors.length === 0, errors, records })
      })
    }
  })

export const streamerBroadcastRoutes = [list, download, remove, batch('POST'), batch('PUT')]
