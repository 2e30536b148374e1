import { describe, expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import { startPlaying, shownWhen } from '../support/playing.ts'
import { openPlayoutClient, promptly } from '../support/playout-client.ts'
import type { Program } from '../support/program.ts'
import { seedStation } from '../support/stations.ts'
import { startFakeIcecast } from '../support/streaming-server.ts'

const statusOf = async ({ ask }: Pick<Program, 'ask'>, id: number) =>
  (await ask('GET', `/api/station/${id}/status`)).body

describe('a station that the clock plays', () => {
  test('is stopped and started, and its status says so', async ({ program }) => {
    const { id } = await startPlaying(program)
    const post = (action: string) => program.ask('POST', `/api/station/${id}/backend/${action}`)
    expect(await statusOf(program, id)).toEqual({ backendRunning: true, frontendRunning: false })
    expect(await post('stop')).toMatchObject({ status: 200, body: { message: 'Service stopped.' } })
    await shownWhen(program, id, body => !body.is_online)
    expect(await statusOf(program, id)).toMatchObject({ backendRunning: false })
    expect(await post('restart')).toMatchObject({ status: 200, body: { message: 'Service restarted.' } })
    await shownWhen(program, id, body => body.is_online)
    expect(await post('stop')).toMatchObject({ status: 200 })
    expect(await post('start')).toMatchObject({ status: 200, body: { message: 'Service started.' } })
    await shownWhen(program, id, body => body.is_online)
    expect(await post('dance')).toMatchObject({ status: 404 })
  })

  test.for(['restart', 'backend/restart'])('starts the next song at %s', async (action, { program }) => {
    const { id, document } = await startPlaying(program)
    expect(await program.ask('POST', `/api/station/${id}/${action}`)).toMatchObject({ status: 200 })
    const { now_playing: next } = await shownWhen(
      program,
      id,
      body => body.now_playing.sh_id > document.now_playing.sh_id
    )
    expect(next.elapsed).toBeLessThan(5)
  })

  test.for(['reload', 'backend/reload'])(
    'fills the queue at %s, and the song continues',
    async (action, { program }) => {
      const { id, document } = await startPlaying(program)
      await program.sql`delete from queue where station_id = ${id} and played_at_ms is null`
      expect(await program.ask('POST', `/api/station/${id}/${action}`)).toMatchObject({ status: 200 })
      const { body: queue } = await program.ask('GET', `/api/station/${id}/queue`)
      expect(queue).toHaveLength(3)
      const { body: shown } = await program.ask('GET', `/api/nowplaying/${id}`)
      expect(shown.now_playing.sh_id).toBe(document.now_playing.sh_id)
    }
  )

  test('disconnects a streamer', async ({ program }) => {
    const { id } = await startPlaying(program)
    const disconnect = () => program.ask('POST', `/api/station/${id}/backend/disconnect`)
    expect(await disconnect()).toMatchObject({ status: 409, body: { message: 'No streamer is live.' } })
    const { body: key } = await program.ask('POST', `/api/station/${id}/playout-key`)
    await program.ask('PUT', `/api/admin/station/${id}`, { body: { enable_streamers: true } })
    const response = await fetch(`${program.baseUrl}/api/internal/${id}/liquidsoap/djon?user=source`, {
      headers: { 'X-Liquidsoap-Api-Key': key.playout_key }
    })
    expect(await response.json()).toBe(true)
    await shownWhen(program, id, body => body.live.is_live)
    expect(await program.ask('POST', `/api/station/${id}/restart`)).toMatchObject({
      status: 409,
      body: { message: 'A streamer is live.' }
    })
    expect(await disconnect()).toMatchObject({ status: 200, body: { message: 'Streamer disconnected.' } })
    await shownWhen(program, id, body => !body.live.is_live)
  })
})

describe('a station that Liquidsoap plays', () => {
  const notConnected = { status: 409, body: { message: 'The playout of the station is not connected.' } }

  test('gets commands if it is connected and its script executes them', async ({ program }) => {
    const playout = await openPlayoutClient(program, {}, { enable_streamers: true })
    const post = (action: string) => program.ask('POST', `/api/station/${playout.id}/${action}`)
    expect(await statusOf(program, playout.id)).toMatchObject({ backendRunning: false })
    expect(await post('restart')).toMatchObject(notConnected)
    expect((await post('backend/start')).body.message).toMatch(
      /start and stop it on the machine where it runs/
    )
    const { body: old } = await playout.call('commands')
    expect(await statusOf(program, playout.id)).toMatchObject({ backendRunning: true })
    expect(await post('backend/start')).toMatchObject({ status: 200 })
    expect(await post('backend/stop')).toMatchObject({ status: 409 })
    expect((await post('restart')).body.message).toMatch(/script of the playout does not execute "restart"/)
    const { body: start } = await playout.call('commands', { takes: 'disconnect, restart,dance' })
    expect(start.seen).toBe(old.seen)
    expect(await post('restart')).toMatchObject({ status: 200, body: { message: 'Station restarted.' } })
    await playout.call('djon', { user: 'source' })
    expect(await post('backend/disconnect')).toMatchObject({ status: 200 })
    const { body: told } = await playout.call('commands', { seen: start.seen, takes: 'disconnect,restart' })
    expect(told.commands.map(({ type }: { type: string }) => type)).toEqual(['restart', 'disconnect'])
    await expect.poll(playout.shown, promptly).toMatchObject({ live: { is_live: true } })
    await program.sql`update playouts set left_at_ms = 1 where station_id = ${playout.id}`
    expect(await post('backend/disconnect')).toMatchObject(notConnected)
    expect(await statusOf(program, playout.id)).toMatchObject({ backendRunning: false })
  })
})

test('a streaming server is polled again, and its status is that of the poll', async ({ program }) => {
  const id = await seedStation(program.sql, { tracks: 0 })
  const post = (action: string) => program.ask('POST', `/api/station/${id}/frontend/${action}`)
  expect(await post('reload')).toMatchObject({
    status: 409,
    body: { message: 'The station has no streaming server that is polled.' }
  })
  await using server = await startFakeIcecast()
  const body = { frontend: 'icecast', frontend_url: server.url }
  await program.ask('PUT', `/api/admin/station/${id}`, { body })
  const running = () => statusOf(program, id)
  await expect.poll(running, promptly).toMatchObject({ frontendRunning: true })
  await program.sql`update polls set due_at_ms = 9999999999999 where station_id = ${id}`
  expect(await post('restart')).toMatchObject({ status: 200 })
  await expect.poll(running, promptly).toMatchObject({ frontendRunning: true })
  expect(await post('stop')).toMatchObject({ status: 409 })
})
