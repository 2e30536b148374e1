import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect } from 'vitest'

import { updateDiskAlerts } from '../../src/library/storage/disk-alerts.ts'
import { test } from '../support/fixtures.ts'
import { mountVolume } from '../support/small-volume.ts'

const megabyte = 2 ** 20

test('a disk that is nearly full raises one alert, which is resolved when it has space again', async ({
  sql,
  skip
}) => {
  await using volume = await mountVolume(16)
  if (volume === null) return skip('volumes cannot be mounted here')
  const update = () => updateDiskAlerts(sql, volume.path, new AbortController().signal)
  const read = () => sql`select title, type, source from notifications`
  const title = expect.stringContaining(`A disk is nearly full: ${volume.path} on `)
  const file = join(volume.path, 'recording')
  await update()
  expect(await read()).toEqual([])
  await writeFile(file, Buffer.alloc(15.5 * megabyte))
  await update()
  await update()
  expect(await read()).toEqual([{ title, type: 'danger', source: 'storage' }])
  // A little space is not enough, so that it does not flap.
  await truncate(file, 15.25 * megabyte)
  await update()
  expect(await read()).toEqual([{ title, type: 'danger', source: 'storage' }])
  await truncate(file, 0)
  await update()
  expect(await read()).toEqual([{ title, type: 'success', source: 'storage' }])
  return undefined
})

test('the alert of a storage location that was deleted is resolved', async ({ sql, skip }) => {
  await using volume = await mountVolume(16)
  if (volume === null) return skip('volumes cannot be mounted here')
  const update = () => updateDiskAlerts(sql, '/nowhere/at/all', new AbortController().signal)
  const read = () => sql`select type from notifications`
  await writeFile(join(volume.path, 'recording'), Buffer.alloc(15.5 * megabyte))
  await sql`
    insert into storage_locations (type, adapter, path) values ('station_recordings', 'local', ${volume.path})`
  await update()
  await update()
  expect(await read()).toEqual([{ type: 'danger' }])
  await sql`delete from storage_locations where path = ${volume.path}`
  await update()
  expect(await read()).toEqual([{ type: 'success' }])
  return undefined
})

test('a folder that does not exist is skipped', async ({ sql }) => {
  await updateDiskAlerts(sql, '/nowhere/at/all', new AbortController().signal)
  expect(await sql`select from notifications`).toHaveLength(0)
})
