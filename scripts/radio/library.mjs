import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'

import { melodies } from './melodies.mjs'

const playlistName = 'Melodies'

/**
 * Sees to it that a station has something to play: one without any song gets melodies, and so does the demo with its
 * catalogue of songs that have no files, whose playlists are switched off. Another library is left alone.
 */
export async function addMelodies({ ask, station, mediaFolder, melodySeconds, say }) {
  const songs = melodies(melodySeconds)
  const files = await ask('GET', `/api/station/${station.id}/files`)
  const isMelody = ({ path }) => songs.some(({ name }) => name === path)
  const isThere = ({ path }) =>
    /^https?:\/\//i.test(path) || existsSync(isAbsolute(path) ? path : join(mediaFolder, path))
  const others = files.filter(file => !isMelody(file))
  if (others.some(isThere)) return
  const isSilentDemo =
    others.length > 0 && station.short_name === 'demo' && others.every(({ size }) => size === 0)
  if (others.length > 0 && !isSilentDemo) {
    say(
      `none of the ${others.length} songs of ${station.name} can be read from here; Liquidsoap has to find them`
    )
    return
  }
  const playlists = await ask('GET', `/api/station/${station.id}/playlists`)
  const own = playlists.find(({ name }) => name === playlistName)
  const { id } = own ?? (await ask('POST', `/api/station/${station.id}/playlists`, { name: playlistName }))
  await mkdir(mediaFolder, { recursive: true })
  const missing = songs.filter(({ name }) => files.every(({ path }) => path !== name))
  for (const { name, bytes } of songs) {
    const file = join(mediaFolder, name)
    if (!existsSync(file)) await writeFile(file, bytes())
  }
  for (const { name, title, artist, seconds } of missing) {
    const song = { path: name, title, artist, length: seconds, playlists: [id] }
    await ask('POST', `/api/station/${station.id}/files`, song)
  }
  if (missing.length > 0) say(`${station.name} has melodies to play, in ${mediaFolder}`)
  const silent = playlists.filter(playlist => playlist.id !== id && playlist.is_enabled)
  if (!isSilentDemo || silent.length === 0) return
  for (const playlist of silent)
    await ask('PUT', `/api/station/${station.id}/playlist/${playlist.id}`, { is_enabled: false })
  await ask('PUT', `/api/admin/station/${station.id}`, { description: 'Melodies of small machines.' })
  say(`the playlists of ${station.name} whose songs have no files are switched off`)
}
