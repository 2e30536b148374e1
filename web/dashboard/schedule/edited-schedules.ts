import * as v from 'valibot'

import { toApiError } from '../api/api-error.ts'
import { callApi } from '../api/call-api.ts'
import { isSame } from '../forms/form-edits.ts'
import { selectChanged } from './changed-owners.ts'
import { type ScheduleItem, scheduleItemSchema } from './schedule-item.ts'

/** Playlists of a station, with their schedules. */
export const playlistSchedulesSchema = v.array(
  v.object({
    id: v.number(),
    name: v.string(),
    is_enabled: v.boolean(),
    is_jingle: v.boolean(),
    schedule_items: v.array(scheduleItemSchema)
  })
)

/** Streamers of a station, with their schedules. */
export const streamerSchedulesSchema = v.array(
  v.object({
    id: v.number(),
    streamer_username: v.string(),
    display_name: v.string(),
    schedule_items: v.array(scheduleItemSchema)
  })
)

/** A playlist or streamer with a schedule. */
export interface ScheduleOwner {
  /** `playlist/3`: its path below that of the station. */
  readonly key: string
  readonly kind: 'playlist' | 'streamer'
  readonly id: number
  readonly name: string
  readonly items: readonly ScheduleItem[]
}

export function listOwners(
  playlists: v.InferOutput<typeof playlistSchedulesSchema>,
  streamers: v.InferOutput<typeof streamerSchedulesSchema>
): ScheduleOwner[] {
  return [
    ...playlists.map(({ id, name, schedule_items: items }) => {
      return { key: `playlist/${id}`, kind: 'playlist' as const, id, name, items }
    }),
    ...streamers.map(({ id, display_name: name, streamer_username: username, schedule_items: items }) => {
      return { key: `streamer/${id}`, kind: 'streamer' as const, id, name: name || username, items }
    })
  ]
}

/** The unsaved schedules, by the key of their owner. */
export type ScheduleEdits = ReadonlyMap<string, readonly ScheduleItem[]>

/** The schedule of an owner with its edits. */
export const itemsOf = ({ key, items }: ScheduleOwner, edits: ScheduleEdits): readonly ScheduleItem[] =>
  edits.get(key) ?? items

/** Returns the edits with another schedule of one owner; without it if that is the stored one. */
export function editSchedule(
  edits: ScheduleEdits,
  { key, items: stored }: ScheduleOwner,
  items: readonly ScheduleItem[]
): ScheduleEdits {
  const next = new Map(edits)
  if (isSame(items, stored)) next.delete(key)
  else next.set(key, items)
  return next
}

/**
 * Reads the edited schedules again. Returns the owners whose stored schedule is not the one with which the edit
 * began, `starts`.
 */
export async function findChangedOwners(
  stationPath: string,
  edits: ScheduleEdits,
  starts: ScheduleEdits
): Promise<ScheduleOwner[]> {
  const isEdited = (kind: ScheduleOwner['kind']) =>
    Array.from(edits.keys()).some(key => key.startsWith(`${kind}/`))
  const [playlists, streamers] = await Promise.all([
    isEdited('playlist')
      ? callApi(playlistSchedulesSchema, `${stationPath}/playlists`, { isSave: true })
      : [],
    isEdited('streamer') ? callApi(streamerSchedulesSchema, `${stationPath}/streamers`, { isSave: true }) : []
  ])
  return selectChanged(listOwners(playlists, streamers), edits, starts)
}

/** What was saved, and why the rest was not. */
export interface SaveResult {
  readonly saved: readonly string[]
  readonly problems: ReadonlyMap<string, string>
}

/** Saves each edited schedule with one request; one that fails does not stop the others. */
export async function saveSchedules(stationPath: string, edits: ScheduleEdits): Promise<SaveResult> {
  const saved: string[] = []
  const problems = new Map<string, string>()
  for (const [key, items] of edits) {
    try {
      await callApi(v.unknown(), `${stationPath}/${key}`, { method: 'PUT', body: { schedule_items: items } })
      saved.push(key)
    } catch (error) {
      problems.set(key, toApiError(error).message)
    }
  }
  return { saved, problems }
}
