import { expect } from 'vitest'

import { withoutCustomFields } from '../support/custom-fields.ts'
import { test } from '../support/fixtures.ts'
import { allWays, connectBy, livePath, openWebSocket, transports } from '../support/live-ways.ts'
import { startPlaying } from '../support/playing.ts'

// Acceptance check 21, from the clock to the widget.

test('the same track twice in a row is a change on every transport', async ({ program }) => {
  const { id } = await startPlaying(program, { tracks: 1, songMs: 1_500 })
  const message = { subs: { [`station:${id}`]: { recover: true } } }
  await Promise.all(
    transports.map(async way => {
      const { reader } = await connectBy(way, { baseUrl: program.baseUrl, message })
      const next = async () =>
        (await reader.until('pub', ({ pub }) => pub.data.triggers.includes('song_changed'))).pub.data
      const first = await next()
      const second = await next()
      expect(withoutCustomFields(second.np.now_playing.song)).toEqual(
        withoutCustomFields(first.np.now_playing.song)
      )
      expect(second.np.now_playing.sh_id).toBeGreaterThan(first.np.now_playing.sh_id)
      expect(second.np.now_playing.played_at).toBeGreaterThan(first.np.now_playing.played_at)
      expect(second.np.now_playing.elapsed).toBe(second.current_time - second.np.now_playing.played_at)
      expect(second.np.now_playing.elapsed).toBeLessThanOrEqual(1)
    })
  )
})

test.for<[string, (path: string) => string]>([
  ['two slashes at the beginning', path => `/${path}`],
  ['two slashes inside', path => path.replace('/live', '//live')],
  ['a slash at the end', path => `${path}/`],
  ['all of them', path => `/${path.replaceAll('/', '//')}//`]
])('a live path may have %s', async ([, respell], { program }) => {
  const { id } = await startPlaying(program)
  const message = { subs: { [`station:${id}`]: { recover: true } } }
  const { baseUrl } = program
  for (const way of allWays) {
    const { connect } = await connectBy(way, { baseUrl, message, respell })
    expect(Object.keys(connect.subs ?? {})).toEqual([`station:${id}`])
  }
  const refused = await fetch(baseUrl + respell(`${livePath}/websocket`))
  expect(refused.status).toBe(400)
  expect(await refused.json()).toMatchObject({ message: 'This path accepts only WebSocket connections.' })
  const poll = await fetch(`${baseUrl}${respell(`/api/nowplaying/${id}`)}?wait=1`)
  expect(poll.headers.get('x-cuewire-offset')).toMatch(/^\d+$/)
  // What is no live path stays unknown, also for a WebSocket.
  const elsewhere = openWebSocket({
    baseUrl,
    message,
    respell: path => respell(path.replace('live', 'dead'))
  })
  expect(await elsewhere.ended).toMatchObject({ status: 404 })
})

test('a jingle does not change the song, and announces the start of the next one', async ({ program }) => {
  const { id } = await startPlaying(program, { tracks: 5, songMs: 1_500 })
  const client = openWebSocket({
    baseUrl: program.baseUrl,
    message: { subs: { [`station:${id}`]: { recover: true } } }
  })
  await client.until('connect')
  const { pub: song } = await client.until('pub', ({ pub }) => pub.data.triggers.includes('song_changed'))
  await program.sql`update queue set is_visible = false where id = (
    select min(id) from queue where station_id = ${id} and played_at_ms is null and skipped_at_ms is null)`
  const isJingle = ({ now_playing: playing }: (typeof song)['data']['np']) =>
    playing.duration > 0 && playing.remaining === 0
  const { pub: jingle } = await client.until('pub', ({ pub }) => isJingle(pub.data.np))
  expect(jingle.data.triggers).not.toContain('song_changed')
  expect(jingle.data.np.now_playing).toMatchObject({
    sh_id: song.data.np.now_playing.sh_id,
    elapsed: song.data.np.now_playing.duration
  })
  const { pub: after } = await client.until('pub', ({ pub }) => pub.data.triggers.includes('song_changed'))
  expect(after.data.np.now_playing.played_at).toBe(jingle.data.np.playing_next?.played_at)
  expect(after.data.np.song_history[0]?.sh_id).toBe(song.data.np.now_playing.sh_id)
})
