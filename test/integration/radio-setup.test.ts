import { execFile } from 'node:child_process'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect } from 'vitest'

import { createDemoStation } from '../../src/commands/demo/demo.ts'
import { test } from '../support/fixtures.ts'
import { adminKey, type Program } from '../support/program.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { seedStation } from '../support/stations.ts'

const setup = fileURLToPath(new URL('../../scripts/radio-setup.mjs', import.meta.url))
const names = ['icecast.xml', 'liquidsoap.env', 'secrets.json', 'station.liq']

/** Runs the script and returns its output. */
async function setUp(program: Program, folder: string, station: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [setup], {
    env: {
      CUEWIRE_URL: program.baseUrl,
      DATA_DIR: program.dataDir,
      ADMIN_API_KEY: adminKey,
      RADIO_STATION: station,
      RADIO_DIR: folder,
      RADIO_LISTEN_URL: 'http://radio.example.com:8000/',
      MELODY_SECONDS: '2'
    }
  })
  return stdout
}

const readAll = (folder: string) => Promise.all(names.map(async name => readFile(join(folder, name), 'utf8')))

async function titlesIn(program: Program, stationId: number) {
  const { body } = await program.ask('GET', `/api/station/${stationId}/queue`)
  return body.map((row: { playlist: string }) => row.playlist)
}

test('sets up a station, and is idempotent', async ({ program }) => {
  const folder = await scratchFolder()
  await setUp(program, folder, 'harbour')
  const { body: stations } = await program.ask('GET', '/api/admin/stations')
  const station = stations.find((each: { short_name: string }) => each.short_name === 'harbour')
  expect(station).toMatchObject({
    backend: 'liquidsoap',
    frontend: 'icecast',
    frontend_url: 'http://127.0.0.1:8000',
    enable_streamers: true
  })
  const media = join(program.dataDir, 'stations', String(station.id), 'media')
  const { body: files } = await program.ask('GET', `/api/station/${station.id}/files`)
  expect(files.map((file: { path: string }) => file.path).toSorted()).toEqual(
    (await readdir(media)).toSorted()
  )
  expect(files).toHaveLength(10)
  expect(files[0]).toMatchObject({ artist: 'The Small Machines', length: 2 })
  expect(new Set(await titlesIn(program, station.id))).toEqual(new Set(['Melodies']))
  const { body: shown } = await program.ask('GET', `/api/nowplaying/${station.id}`)
  expect(shown.station.listen_url).toBe('http://radio.example.com:8000/radio.mp3')

  const modes = await Promise.all(names.map(async name => (await stat(join(folder, name))).mode & 0o777))
  expect(modes).toEqual([0o600, 0o600, 0o600, 0o644])
  const [icecast = '', settings = '', secrets = '', script = ''] = await readAll(folder)
  const { playoutKey, sourcePassword, adminPassword } = JSON.parse(secrets)
  expect(icecast).not.toMatch(/@[A-Z_]+@/)
  expect(icecast).toContain(`<admin-password>${adminPassword}</admin-password>`)
  expect(settings).toContain(`ICECAST_SOURCE_PASSWORD='${sourcePassword}'`)
  expect(script).not.toMatch(new RegExp([playoutKey, sourcePassword, adminPassword].join('|')))
  expect(script).toContain(`"/api/internal/${station.id}/liquidsoap"`)

  await setUp(program, folder, 'harbour')
  expect(await readAll(folder)).toEqual([icecast, settings, secrets, script])
  const { body: again } = await program.ask('GET', `/api/station/${station.id}/files`)
  expect(again).toHaveLength(10)

  await program.ask('POST', `/api/station/${station.id}/playout-key`)
  const { body: mounts } = await program.ask('GET', `/api/station/${station.id}/mounts`)
  const intro = await readFile(fileURLToPath(new URL('../support/audio/tagged.mp3', import.meta.url)))
  const response = await fetch(`${program.baseUrl}/api/station/${station.id}/mount/${mounts[0].id}/intro`, {
    method: 'POST',
    headers: { 'X-API-Key': adminKey, 'Content-Type': 'audio/mpeg' },
    body: intro
  })
  expect(response.status).toBe(200)
  await setUp(program, folder, 'harbour')
  const [, introPath = ''] =
    /<intro>(.*)<\/intro>/.exec(await readFile(join(folder, 'icecast.xml'), 'utf8')) ?? []
  expect(await readFile(resolve('/usr/share/icecast2/web', introPath))).toEqual(intro)
  const kept = JSON.parse(await readFile(join(folder, 'secrets.json'), 'utf8'))
  expect(kept).toMatchObject({ sourcePassword, adminPassword })
  const { status } = await fetch(`${program.baseUrl}/api/internal/${station.id}/liquidsoap/nextsong`, {
    headers: { 'X-Liquidsoap-Api-Key': kept.playoutKey }
  })
  expect(status).toBe(200)
})

test('replaces the songs of the demo, and changes no other library', async ({ program }) => {
  const demo = await createDemoStation(program.sql)
  const folder = await scratchFolder()
  await setUp(program, folder, 'demo')
  const { body: playlists } = await program.ask('GET', `/api/station/${demo}/playlists`)
  expect(
    playlists.map((each: { name: string; is_enabled: boolean }) => [each.name, each.is_enabled]).toSorted()
  ).toEqual([
    ['Goldberg Variations', false],
    ['Melodies', true]
  ])
  expect(new Set(await titlesIn(program, demo))).toEqual(new Set(['Melodies']))

  const other = await seedStation(program.sql)
  const [row] = await program.sql<
    { name: string }[]
  >`select short_name as name from stations where id = ${other}`
  expect(await setUp(program, await scratchFolder(), row?.name ?? '')).toContain('none of the 10 songs')
  const { body: left } = await program.ask('GET', `/api/station/${other}/playlists`)
  expect(left).toMatchObject([{ name: 'Rotation', is_enabled: true }])
})
