import { callApi } from '../api/call-api.ts'
import type { Playlist } from '../api/responses.ts'
import type { StationPath } from '../api/typed-response.ts'

/** Copies a playlist, disabled, with its songs. */
export async function requestPlaylistCopy(stationPath: StationPath, playlist: Playlist): Promise<string> {
  const { id, podcasts: _podcasts, schedule_items: items, ...settings } = playlist
  const body = {
    ...settings,
    name: `${playlist.name} (copy)`.slice(0, 200),
    is_enabled: false,
    schedule_items: items.map(item => ({ ...item, id: 0 }))
  }
  const songs = await callApi('GET', `${stationPath}/playlist/${id}/order`)
  const created = await callApi('POST', `${stationPath}/playlists`, { body })
  const ids = songs.map(({ media_id: mediaId }) => mediaId)
  if (ids.length > 0) await callApi('POST', `${stationPath}/playlist/${created.id}/import`, { body: ids })
  return `“${body.name}” was created, disabled.`
}
