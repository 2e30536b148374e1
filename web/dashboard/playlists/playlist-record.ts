import * as v from 'valibot'

import { callApi } from '../api/call-api.ts'

/** The settings of a playlist, as the API returns them. */
export const playlistRecordSchema = v.looseObject({
  id: v.number(),
  name: v.string(),
  type: v.string(),
  source: v.string(),
  remote_type: v.string(),
  order: v.string(),
  weight: v.number(),
  play_per_songs: v.number(),
  play_per_minutes: v.number(),
  play_per_hour_minute: v.number(),
  is_enabled: v.boolean(),
  is_jingle: v.boolean(),
  backend_options: v.string(),
  schedule_items: v.array(
    v.looseObject({
      start_time: v.number(),
      end_time: v.number(),
      start_date: v.string(),
      end_date: v.string(),
      days: v.array(v.number())
    })
  )
})
export type PlaylistRecord = v.InferOutput<typeof playlistRecordSchema>

/** The entries of a playlist. A server of the release before does not return their ids: 0. */
export const playlistOrderSchema = v.array(
  v.object({
    spm_id: v.optional(v.number(), 0),
    media_id: v.number(),
    artist: v.string(),
    title: v.string(),
    path: v.string()
  })
)
export type PlaylistSong = v.InferOutput<typeof playlistOrderSchema>[number]

const createdSchema = v.object({ id: v.number() })

/** Copies a playlist, disabled, with its songs. */
export async function copyPlaylist(stationPath: string, playlist: PlaylistRecord): Promise<string> {
  const { id, links: _links, podcasts: _podcasts, schedule_items: items, ...settings } = playlist
  const body = {
    ...settings,
    name: `${playlist.name} (copy)`.slice(0, 200),
    is_enabled: false,
    schedule_items: items.map(item => ({ ...item, id: 0 }))
  }
  const songs = await callApi(playlistOrderSchema, `${stationPath}/playlist/${id}/order`)
  const created = await callApi(createdSchema, `${stationPath}/playlists`, { method: 'POST', body })
  const ids = songs.map(({ media_id: mediaId }) => mediaId)
  if (ids.length > 0)
    await callApi(v.unknown(), `${stationPath}/playlist/${created.id}/import`, { method: 'POST', body: ids })
  return `“${body.name}” was created, disabled.`
}
