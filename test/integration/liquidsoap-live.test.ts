import { describe, expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import { isPub, type Publication, subscribeLive } from '../support/live-client.ts'
import { openPlayoutClient, type PlayoutClient, promptly } from '../support/playout-client.ts'
import type { Program } from '../support/program.ts'
import { seedStation } from '../support/stations.ts'
import { waitFor } from '../support/wait.ts'

const soon = { deadlineMs: 8_000 }

async function withStreamers(program: Program): Promise<PlayoutClient> {
  const playout = await openPlayoutClient(
    program,
    { songMs: 200_000 },
    { enable_streamers: true, source_password: 'hackme' }
  )
  for (const [name, display] of [
    ['wren', 'DJ Wren'],
    ['lark', 'DJ Lark']
  ]) {
    const made = await program.ask('POST', `/api/station/${playout.id}/streamers`, {
      body: { streamer_username: name, streamer_password: `pw-${name}`, display_name: display }
    })
    expect(made.status).toBe(200)
  }
  return playout
}

const queueOf = async (program: Program, id: number) =>
  (await program.ask('GET', `/api/station/${id}/queue`)).body.map(
    (row: { links: { self: string } }) => row.links.self
  )

describe('a streamer', () => {
  test('is authenticated with the account of the station', async ({ program }) => {
    const playout = await withStreamers(program)
    const login = async (user: string, password: string) =>
      (await playout.call('auth', { user, password })).body
    expect(await login('wren', 'pw-wren')).toEqual({ allow: true, username: 'wren', display_name: 'DJ Wren' })
    expect(await login('source', 'lark:pw-lark')).toMatchObject({ allow: true, username: 'lark' })
    expect(await login('source', 'hackme')).toMatchObject({ allow: true, username: 'source' })
    expect(await login('wren', 'pw-lark')).toEqual({ allow: false })
    const closed = await openPlayoutClient(program)
    expect((await closed.call('auth', { user: 'wren', password: 'pw-wren' })).status).toBe(400)
  })

  test('is live from connecting to disconnecting; the queue waits', async ({ program }) => {
    const playout = await withStreamers(program)
    const first = await playout.next('')
    await playout.call('feedback', { ...first, ago: '0' })
    const second = await playout.next(first['sq_id'])
    const queue = await queueOf(program, playout.id)
    expect((await playout.call('djon', { user: 'wren' })).body).toBe(true)
    await expect.poll(playout.shown, promptly).toMatchObject({
      is_online: true,
      live: {
        is_live: true,
        streamer_name: 'DJ Wren',
        broadcast_start: expect.stringMatching(/^\d+$/),
        art: ''
      },
      now_playing: {
        streamer: 'DJ Wren',
        playlist: '',
        duration: 0,
        song: { title: 'Live Broadcast', artist: '' }
      }
    })
    await playout.call('feedback', { title: 'The Low Signals - Night Ferry' })
    await playout.call('feedback', { title: 'The Low Signals - Night Ferry' })
    const { now_playing: playing, song_history: history } = await playout.shown()
    expect(playing).toMatchObject({
      streamer: 'DJ Wren',
      song: { artist: 'The Low Signals', title: 'Night Ferry' }
    })
    expect(history.map((each: { streamer: string }) => each.streamer)).toEqual(['DJ Wren', ''])
    expect((await program.ask('POST', `/api/station/${playout.id}/backend/skip`)).status).toBe(409)
    expect(await queueOf(program, playout.id)).toEqual(queue)
    await playout.call('djoff', { user: 'wren' })
    await expect.poll(playout.shown, promptly).toMatchObject({
      is_online: true,
      live: { is_live: false, streamer_name: '', broadcast_start: '', art: '' },
      now_playing: { song: { title: 'Night Ferry' } }
    })
    await playout.call('feedback', { ...second, ago: '0' })
    await expect
      .poll(async () => (await playout.shown()).now_playing, promptly)
      .toMatchObject({
        streamer: '',
        song: { title: second['title'] }
      })
    const { body: broadcasts } = await program.ask('GET', `/api/station/${playout.id}/streamers/broadcasts`)
    expect(broadcasts).toMatchObject([{ username: 'wren', timestamp_end: expect.any(Number) }])
  })

  test('hands over to another, and a late report of the first changes nothing', async ({ program }) => {
    const playout = await withStreamers(program)
    await playout.call('djon', { user: 'wren', ago: '5' })
    const { live: before } = await playout.shown()
    const url = `${program.baseUrl.replace('http', 'ws')}/api/live/nowplaying/websocket`
    const listener = await subscribeLive(url, { subs: { [`station:${playout.id}`]: { recover: true } } })
    await playout.call('djon', { user: 'lark' })
    await playout.call('djoff', { user: 'wren' })
    const { live: after } = await playout.shown()
    expect([before.streamer_name, after.streamer_name]).toEqual(['DJ Wren', 'DJ Lark'])
    expect(after.broadcast_start).not.toBe(before.broadcast_start)
    const isHandover = (frame: unknown): frame is Publication =>
      isPub(frame) && frame.pub.data.triggers.length > 0
    const { pub } = await listener.until(isHandover)
    expect(pub.data.triggers.toSorted()).toEqual([
      'live_connect',
      'live_disconnect',
      'song_changed',
      'song_changed_live'
    ])
    // A repeated connect report, and the end of an earlier connection of the same streamer.
    await playout.call('djon', { user: 'lark', ago: '0.2' })
    await playout.call('djoff', { user: 'lark', ago: '30' })
    await expect.poll(async () => (await playout.shown()).live, promptly).toEqual(after)
    expect((await playout.call('djon', { user: 'nobody' })).body).toBe(false)
    await expect.poll(async () => (await playout.shown()).live, promptly).toEqual(after)
  })

  test('who disconnects is followed by the song of the playout, even without a report', async ({
    program
  }) => {
    const playout = await withStreamers(program)
    await playout.call('djon', { user: 'source' })
    await expect.poll(async () => (await playout.shown()).live.streamer_name, promptly).toBe('Live Broadcast')
    const song = await playout.next('')
    await playout.call('djoff', { user: 'source' })
    await waitFor(async () => (await playout.shown()).now_playing.song.title === song['title'], {
      ...soon,
      what: 'the song that was sent'
    })
  })

  test('whose disconnect was not reported is no longer live once a queued song plays', async ({
    program
  }) => {
    const playout = await withStreamers(program)
    const first = await playout.next('')
    await playout.call('djon', { user: 'wren', ago: '30' })
    await playout.call('feedback', { ...first, ago: '25' })
    await expect.poll(async () => (await playout.shown()).live.is_live, promptly).toBe(true)
    await playout.call('feedback', { ...(await playout.next(first['sq_id'])), ago: '1' })
    await expect
      .poll(async () => (await playout.shown()).live, promptly)
      .toMatchObject({ is_live: false, streamer_name: '' })
  })

  test('interrupts the plays of the clock, which continue afterwards', async ({ program }) => {
    const id = await seedStation(program.sql)
    await program.sql`update stations set enable_streamers = true where id = ${id}`
    const made = await program.ask('POST', `/api/station/${id}/playout-key`)
    const call = async (action: string, body: object) =>
      fetch(`${program.baseUrl}/api/internal/${id}/liquidsoap/${action}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Liquidsoap-Api-Key': made.body.playout_key },
        body: JSON.stringify(body)
      })
    const shown = async () => (await program.ask('GET', `/api/nowplaying/${id}`, { key: '' })).body
    await waitFor(async () => (await shown()).is_online, { ...soon, what: 'the clock' })
    const { playing_next: next } = await shown()
    await call('djon', { user: 'source' })
    await program.sql`update song_history set started_at_ms = started_at_ms - 3600000 where station_id = ${id}`
    expect((await call('nextsong', {})).status).toBe(409)
    const update = { title: 'Ann - Home' }
    const reported = await program.ask('POST', `/api/station/${id}/nowplaying/update`, { body: update })
    expect(reported.status).toBe(200)
    await expect.poll(async () => (await shown()).now_playing.song.text, promptly).toBe('Ann - Home')
    await call('djoff', { user: 'source' })
    await expect.poll(shown, promptly).toMatchObject({
      live: { is_live: false },
      now_playing: { song: next.song, streamer: '' }
    })
    const refused = await program.ask('POST', `/api/station/${id}/nowplaying/update`, { body: update })
    expect(refused.status).toBe(409)
  })
})
