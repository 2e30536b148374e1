import { type FieldProblem, toApiRequestError } from '../api/api-error.ts'
import { callAction, callApi } from '../api/call-api.ts'
import type { Playlist, Streamer } from '../api/responses.ts'
import type { StationPath } from '../api/typed-response.ts'
import type { ApiScheduleItem } from './schedule-item.ts'

/** A playlist or streamer with a schedule. */
export interface ScheduleOwner {
  /** `playlist/3`: its path below that of the station. */
  readonly key: string
  readonly kind: 'playlist' | 'streamer'
  readonly id: number
  readonly name: string
  readonly items: readonly ApiScheduleItem[]
}

export function listScheduleOwners(
  playlists: readonly Playlist[],
  streamers: readonly Streamer[]
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

/** The schedules by the key of their owner. */
export type Schedules = Readonly<Record<string, readonly ApiScheduleItem[]>>

export const schedulesOf = (owners: readonly ScheduleOwner[]): Schedules =>
  Object.fromEntries(owners.map(({ key, items }) => [key, items]))

/** Reads the owners again whose schedules are going to be saved. */
export async function loadScheduleOwners(
  stationPath: StationPath,
  keys: readonly string[]
): Promise<ScheduleOwner[]> {
  const needs = (kind: ScheduleOwner['kind']) => keys.some(key => key.startsWith(`${kind}/`))
  const [playlists, streamers] = await Promise.all([
    needs('playlist') ? callApi('GET', `${stationPath}/playlists`, { isSave: true }) : [],
    needs('streamer') ? callApi('GET', `${stationPath}/streamers`, { isSave: true }) : []
  ])
  return listScheduleOwners(playlists, streamers)
}

/** What was saved, and why the rest was not. */
export interface ScheduleSaveResult {
  readonly saved: readonly string[]
  readonly problems: readonly FieldProblem[]
}

/** Saves each edited schedule with one request; one that fails does not stop the others. */
export async function saveSchedules(
  stationPath: StationPath,
  schedules: Partial<Schedules>
): Promise<ScheduleSaveResult> {
  const saved: string[] = []
  const problems: FieldProblem[] = []
  for (const [key, items] of Object.entries(schedules)) {
    const path: string = `${stationPath}/${key}`
    try {
      await callAction('PUT', path, { body: { schedule_items: items } })
      saved.push(key)
    } catch (error) {
      problems.push({ field: key, message: toApiRequestError(error).message })
    }
  }
  return { saved, problems }
}
