import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'

import { melodies } from './melodies.mjs'

const playlistName = 'Melodies'

/**
 * Adds melodies to a station without songs, and to the demo station, whose songs have no files; its playlists
 * are disabled. Other libraries are not changed.
 */
export async function addMelodies({ call, station, mediaFolder, melodySeconds, log }) {
  const songs = melodies(melodySeconds)
  const files = await call('GET', `/api/station/${station.id}/files`)
  const isMelody = ({ path }) => songs.some(({ name }) => name === path)
  const isThere = ({ path }) =>
    /^https?:\/\//i.test(path) || existsSync(isAbsolute(path) ? path : join(mediaFolder, path))
  const others = files.filter(file => !isMelody(file))
  if (others.some(isThere)) return
  const isSilentDemo =
    others.length > 0 && station.short_name === 'demo' && others.every(({ size }) => size === 0)
  if (others.length > 0 && !isSilentDemo) {
    log(
      `none of the ${others.length} songs of ${station.name} is readable here; Liquidsoap must have access to them`
    )
    return
  }
  const playlists = await call('GET', `/api/station/${station.id}/playlists`)
  const own = playlists.find(({ name }) => name === playlistName)
  const { id } = own ?? (await call('POST', `/api/station/${station.id}/playlists`, { name: playlistName }))
  await mkdir(mediaFolder, { recursive: true })
  const missing = songs.filter(({ name }) => files.every(({ path }) => path !== name))
  for (const { name, bytes } of songs) {
    const file = join(mediaFolder, name)
    if (!existsSync(file)) await writeFile(file, bytes())
  }
  for (const { name, title, artist, seconds } of missing) {
    const song = { path: name, title, artist, length: seconds, playlists: [id] }
    await call('POST', `/api/station/${station.id}/files`, song)
  }
  if (missing.length > 0) log(`${station.name} has melodies in ${mediaFolder}`)
  const silent = playlists.filter(playlist => playlist.id !== id && playlist.is_enabled)
  if (!isSilentDemo || silent.length === 0) return
  for (const playlist of silent)
    await call('PUT', `/api/station/${station.id}/playlist/${playlist.id}`, { is_enabled: false })
  await call('PUT', `/api/admin/station/${station.id}`, { description: 'Melodies of small machines.' })
  log(`the playlists of ${station.name} whose songs have no files are disabled`)
}
