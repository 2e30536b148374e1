import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'

import { melodies } from './melodies.mjs'

const playlistName = 'Melodies'

/**
 * Adds melodies to a station without songs, and to the demo station if none of its songs has a file. Disables the
 * playlists of the demo station whose songs have no files. Other libraries are not changed.
 */
export async function addMelodies({ call, station, mediaFolder, melodySeconds, log }) {
  const songs = melodies(melodySeconds)
  const files = await call('GET', `/api/station/${station.id}/files`)
  const isMelody = ({ path }) => songs.some(({ name }) => name === path)
  const isThere = ({ path }) =>
    /^https?:\/\//i.test(path) || existsSync(isAbsolute(path) ? path : join(mediaFolder, path))
  const others = files.filter(file => !isMelody(file))
  const isDemo = station.short_name === 'demo'
  const playable = others.filter(isThere)
  if (playable.length > 0 && !isDemo) return
  if (playable.length === 0 && others.length > 0 && !(isDemo && others.every(hasNoFile))) {
    log(
      `none of the ${others.length} songs of ${station.name} is readable here; Liquidsoap must have access to them`
    )
    return
  }
  const hasMelodies = playable.length === 0
  if (hasMelodies) await addFiles({ call, station, mediaFolder, files, songs, log })
  if (!isDemo || !(await disableSilentPlaylists({ call, station, files: others, isThere, log }))) return
  if (hasMelodies)
    await call('PUT', `/api/admin/station/${station.id}`, { description: 'Melodies of small machines.' })
}

/** The songs of the demo are records without files. */
const hasNoFile = ({ size }) => size === 0

async function addFiles({ call, station, mediaFolder, files, songs, log }) {
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
}

/** Disables the enabled playlists that have songs, none of which has a file. Returns whether there are any. */
async function disableSilentPlaylists({ call, station, files, isThere, log }) {
  const playlists = await call('GET', `/api/station/${station.id}/playlists`)
  const silent = playlists.filter(({ id, is_enabled: isEnabled }) => {
    const own = files.filter(file => file.playlists.includes(id))
    return isEnabled && own.length > 0 && own.every(file => hasNoFile(file) && !isThere(file))
  })
  if (silent.length === 0) return false
  for (const playlist of silent)
    await call('PUT', `/api/station/${station.id}/playlist/${playlist.id}`, { is_enabled: false })
  log(`the playlists of ${station.name} whose songs have no files are disabled`)
  return true
}
