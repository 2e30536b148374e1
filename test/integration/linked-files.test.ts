import { execFile } from 'node:child_process'
import { mkdir, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { expect } from 'vitest'

import { openInsideRoots, OutsideRootsError } from '../../src/platform/runtime/contained-files.ts'
import { test } from '../support/fixtures.ts'
import { startPlaying } from '../support/playing.ts'
import { openPlayoutClient } from '../support/playout-client.ts'
import type { Program } from '../support/program.ts'
import { seedStations } from '../support/stations.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { sized } from '../support/tier.ts'

/** A station whose songs can be downloaded, with its media folder in the folder of the program. */
async function openLibrary(program: Program) {
  const { id, playlistId } = await startPlaying(program, { tracks: 1 })
  const folder = join(program.dataDir, 'stations', String(id), 'media')
  await mkdir(folder, { recursive: true })
  await program.ask('PUT', `/api/station/${id}/playlist/${playlistId}`, {
    body: { include_in_on_demand: true }
  })
  /**
   * Downloads the song of a path as a listener without a key. Only `npm run import` stores absolute paths.
   */
  async function download(path: string) {
    const [song] = await program.sql<{ id: number }[]>`
      update media set path = ${path} where station_id = ${id} returning id`
    const response = await fetch(`${program.baseUrl}/api/station/${id}/ondemand/download/${song?.id}`)
    return { status: response.status, text: await response.text() }
  }
  return { id, folder, download }
}

test('an anonymous download never leaves the media folder through a link', async ({ program }) => {
  const { folder, download } = await openLibrary(program)
  const other = await openLibrary(program)
  await writeFile(join(other.folder, 'secret.mp3'), 'of another station')
  await symlink('/etc', join(folder, 'out'))
  await symlink('/etc/passwd', join(folder, 'passwd.mp3'))
  await symlink(other.folder, join(folder, 'neighbor'))
  await symlink('self.mp3', join(folder, 'self.mp3'))
  const outside = [
    'out/passwd',
    'passwd.mp3',
    'neighbor/secret.mp3',
    'self.mp3',
    '/etc/passwd',
    '../../../../../../etc/passwd',
    join(other.folder, 'secret.mp3')
  ]
  for (const path of outside) {
    const { status, text } = await download(path)
    expect([path, status, text.includes('root:'), text.includes('another')]).toEqual([
      path,
      404,
      false,
      false
    ])
  }
})

test('a link inside the media folder is followed, and an imported path of the same folder', async ({
  program
}) => {
  const { folder, download } = await openLibrary(program)
  await mkdir(join(folder, 'disc 1'))
  await writeFile(join(folder, 'disc 1', 'a.mp3'), 'sound')
  await symlink('disc 1', join(folder, 'again'))
  for (const path of ['disc 1/a.mp3', 'again/a.mp3', join(folder, 'disc 1/a.mp3')])
    expect([path, await download(path)]).toEqual([path, { status: 200, text: 'sound' }])
  expect((await download('disc 1')).status).toBe(404)
})

test('a media folder that is itself a link may lead to allowed folders only', async ({ program }) => {
  const { id, download } = await openLibrary(program)
  const folder = join(program.dataDir, 'stations', String(id), 'linked')
  await symlink('/etc', folder)
  const made = await program.ask('POST', '/api/admin/storage_locations', {
    body: { type: 'station_media', adapter: 'local', path: folder }
  })
  await program.ask('PUT', `/api/admin/station/${id}`, { body: { media_storage_location_id: made.body.id } })
  expect((await download('passwd')).status).toBe(404)
})

/** A playout, and the media folder of its station with `a.mp3` and a link `out` to another folder. */
async function openPlayoutWithFile(program: Program) {
  const playout = await openPlayoutClient(program, { tracks: 1 })
  const folder = join(program.dataDir, 'stations', String(playout.id), 'media')
  await mkdir(folder, { recursive: true })
  await symlink('/etc', join(folder, 'out'))
  await writeFile(join(folder, 'a.mp3'), 'sound')
  return { playout, folder }
}

test('a playout is not sent to files outside the media folder', async ({ program }) => {
  const { playout, folder } = await openPlayoutWithFile(program)
  await symlink('a.mp3', join(folder, 'b.mp3'))
  await symlink('/etc/passwd', join(program.dataDir, 'stations', String(playout.id), 'passwd.mp3'))
  const locate = async (path: string) => {
    await program.sql`update media set path = ${path} where station_id = ${playout.id}`
    const { status, body } = await playout.call('cp', { uri: `media:${path}` })
    return status === 200 ? body.uri : status
  }
  expect(await locate('a.mp3')).toBe(join(folder, 'a.mp3'))
  expect(await locate('b.mp3')).toBe(join(folder, 'b.mp3'))
  expect(await locate('not there yet.mp3')).toBe(join(folder, 'not there yet.mp3'))
  expect(await locate('out/passwd')).toBe(404)
  // An import stores real paths, so a link in one was put there later.
  expect(await locate('/music/by import.mp3')).toBe('/music/by import.mp3')
  expect(await locate(join(folder, '../passwd.mp3'))).toBe(404)
  expect(await locate(join(program.dataDir, 'stations', String(playout.id), 'passwd.mp3'))).toBe(404)
})

test('a playout on another machine gets a link to a song of the media folder', async ({ program }) => {
  const { playout, folder } = await openPlayoutWithFile(program)
  const link = async (path: string) => {
    await program.sql`update media set path = ${path} where station_id = ${playout.id}`
    return (await playout.call('cp', { uri: `media:${path}`, as: 'link' })).body.uri
  }
  const load = async (address: string) => (await fetch(address)).text()
  expect(await load(await link('a.mp3'))).toBe('sound')
  expect(await load(await link(join(folder, 'a.mp3')))).toBe('sound')
  expect(JSON.parse(await load(await link('out/passwd')))).toMatchObject({ code: 400 })
  // Cuewire serves only files of the media storage.
  expect(await link('/music/by import.mp3')).toBe('/music/by import.mp3')
})

test('a playout is sent to regular files only', async ({ program }) => {
  const playout = await openPlayoutClient(program, { tracks: 1 })
  const folder = join(program.dataDir, 'stations', String(playout.id), 'media')
  await mkdir(join(folder, 'album'), { recursive: true })
  await promisify(execFile)('mkfifo', [join(folder, 'fifo.mp3')])
  await symlink('fifo.mp3', join(folder, 'link.mp3'))
  for (const path of ['album', 'fifo.mp3', 'link.mp3', join(folder, 'fifo.mp3'), '/dev/zero']) {
    await program.sql`update media set path = ${path} where station_id = ${playout.id}`
    expect([path, (await playout.call('cp', { uri: `media:${path}` })).status]).toEqual([path, 404])
  }
})

test('an SFTP user cannot log in if the media folder was replaced by a link', async ({ program }) => {
  const [station] = await seedStations(program.sql)
  const id = station?.id ?? 0
  const username = `linked${id}`
  await program.ask('POST', `/api/station/${id}/sftp-users`, { body: { username, password: 'x' } })
  await mkdir(join(program.dataDir, 'stations', String(id)), { recursive: true })
  await symlink('/etc', join(program.dataDir, 'stations', String(id), 'media'))
  const { body } = await program.ask('POST', '/api/internal/sftp-auth', { body: { username, password: 'x' } })
  expect(body).toEqual({ allow: false })
})

test('a folder that is repeatedly swapped for a link allows no access outside of it', async () => {
  await using temp = await openTempFolder()
  const root = await realpath(temp.path)
  const [inside, outside] = [join(root, 'inside'), join(root, 'outside')]
  await Promise.all([mkdir(join(inside, 'real'), { recursive: true }), mkdir(outside)])
  await writeFile(join(inside, 'real', 'song'), 'inside')
  await writeFile(join(outside, 'song'), 'outside')
  const name = join(inside, 'swapped')
  const stop = new AbortController()
  const swap = async () => {
    while (!stop.signal.aborted) {
      for (const target of [outside, join(inside, 'real')]) {
        await symlink(target, `${name}.next`)
        await rename(`${name}.next`, name)
      }
      // A folder in place of the link, so that a resolved path is a link a moment later.
      await rm(name)
      await mkdir(name)
      await writeFile(join(name, 'song'), 'inside')
      await rm(name, { recursive: true })
    }
  }
  const swapping = swap()
  const seen = { inside: 0, refused: 0 }
  try {
    for (let round = 0; round < sized({ quick: 200, deep: 20_000 }); round++) {
      try {
        await using file = await openInsideRoots(join(name, 'song'), [inside])
        const text = await file.readFile('utf8')
        expect(['inside', '']).toContain(text)
        seen.inside++
      } catch (error) {
        if (error instanceof OutsideRootsError) seen.refused++
        else expect(error).toHaveProperty('code')
      }
    }
  } finally {
    stop.abort()
    await swapping
  }
  // Both outcomes must occur; otherwise no swap was tested.
  expect(Math.min(seen.inside, seen.refused)).toBeGreaterThan(0)
})
