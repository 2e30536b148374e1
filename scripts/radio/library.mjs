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
  const isSilentDemo = station.short_name === 'demo' && others.every(({ size }) => size === 0)
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
  for (const { name, title, artist, seconds, bytes } of songs) {
    const file = join(mediaFolder, name)
    if (!existsSync(file)) await writeFile(file, bytes())
    if (files.some(({ path }) => path === name)) continue
    const song = { path: name, title, artist, length: seconds, playlists: [id] }
    await ask('POST', `/api/station/${station.id}/files`, song)
  }
  for (const playlist of playlists) {
    if (playlist.id === id || !playlist.is_enabled) continue
    await ask('PUT', `/api/station/${station.id}/playlist/${playlist.id}`, { is_enabled: false })
  }
  say(`${station.name} has melodies to play, in ${mediaFolder}`)
}
