import { readFile } from 'node:fs/promises'

import { expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import { startIcecast, whyWithoutIcecast } from '../support/icecast.ts'
import { openPolling } from '../support/polling.ts'
import { seedStation } from '../support/stations.ts'
import { waitFor } from '../support/wait.ts'

const audio = (name: string) => readFile(new URL(`../support/audio/${name}`, import.meta.url))

test.skipIf(whyWithoutIcecast())(
  'listeners and titles are read from a real Icecast, and kept while it is down',
  async ({ sql, redisUrl }) => {
    await using icecast = await startIcecast()
    await using polling = await openPolling(sql, redisUrl)
    const stationId = await seedStation(sql, { tracks: 0 })
    await sql`insert into hls_streams (station_id, name) values (${stationId}, '/low.ogg')`
    const setServer = (password: string) =>
      polling.setServer(stationId, icecast.url, { password, backend: 'none' })
    let nowMs = Date.now()
    const poll = async () => {
      nowMs += 31_000
      await polling.poll(nowMs)
      const [play] = await sql<{ song: string }[]>`
        select artist || '|' || title as song from song_history
        where station_id = ${stationId} and ended_at_ms is null`
      const [state] = await polling.state(stationId)
      return { ...(await polling.counts(stationId)), song: play?.song ?? null, problem: state?.problem }
    }
    const polledUntil = async (all: string, song: string | null) =>
      waitFor(
        async () => {
          const polled = await poll()
          expect(polled).toMatchObject({ all, song })
          return polled
        },
        { deadlineMs: 10_000, what: `${all} listeners of ${song}` }
      )

    await setServer('hush')
    expect(await poll()).toMatchObject({ all: '0/0', song: null, problem: '' })

    await icecast.source('/radio.mp3', { type: 'audio/mpeg', bytes: await audio('tagged.mp3'), again: true })
    await icecast.setTitle('/radio.mp3', 'Tom & "Ann" <x> - \u00C9t\u00E9 \u2013 live')
    for (const agent of ['VLC/3.0', 'VLC/3.0', 'Phone & <more>']) await icecast.listen('/radio.mp3', agent)
    const one = await polledUntil('3/2', 'Tom & "Ann" <x>|\u00C9t\u00E9 \u2013 live')
    expect(one).toEqual({ ...one, '/radio.mp3': '3/2', '/low.ogg': '0/0', problem: '' })

    const stopLow = await icecast.source('/low.ogg', {
      type: 'application/ogg',
      bytes: await audio('tagged.ogg')
    })
    await icecast.listen('/low.ogg', 'VLC/3.0')
    expect(await polledUntil('4/3', one.song)).toMatchObject({ '/radio.mp3': '3/2', '/low.ogg': '1/1' })

    await setServer('')
    expect(await polledUntil('4/4', one.song)).toMatchObject({ problem: '' })
    await icecast.setTitle('/radio.mp3', '1.')
    await polledUntil('4/4', '|1.')
    await icecast.setTitle('/radio.mp3', '007 - True')
    stopLow()
    await polledUntil('3/3', '007|True')

    await setServer('wrong')
    const { problem } = await polledUntil('3/3', '007|True')
    expect(problem).toContain('rejected the admin password')

    await icecast.kill()
    expect(await poll()).toMatchObject({
      all: '3/3',
      song: '007|True',
      problem: expect.stringContaining('failed')
    })
    await icecast.start()
    await polledUntil('0/0', null)
  }
)

test.skipIf(whyWithoutIcecast())('a relay of a real Icecast is no listener', async ({ sql, redisUrl }) => {
  await using icecast = await startIcecast()
  await using polling = await openPolling(sql, redisUrl)
  const stationId = await seedStation(sql, { tracks: 0 })
  await polling.setServer(stationId, icecast.url, { password: 'hush', backend: 'none' })
  await icecast.source('/radio.mp3', { type: 'audio/mpeg', bytes: await audio('tagged.mp3'), again: true })
  await using relay = await startIcecast({ url: icecast.url, mount: '/radio.mp3' })
  const headers = { authorization: `Basic ${btoa('admin:hush')}` }
  await waitFor(
    async () => {
      expect((await fetch(`${relay.url}/status-json.xsl`)).ok).toBe(true)
      const list = await fetch(`${icecast.url}/admin/listclients?mount=/radio.mp3`, { headers })
      expect(await list.text()).toMatch(/<UserAgent>Icecast 2/i)
      return true
    },
    { deadlineMs: 15_000, what: 'the relay' }
  )
  await polling.poll(Date.now() + 31_000)
  expect(await polling.counts(stationId)).toMatchObject({ '/radio.mp3': '0/0', all: '0/0' })
  await icecast.listen('/radio.mp3', 'VLC/3.0')
  await polling.poll(Date.now() + 62_000)
  expect(await polling.counts(stationId)).toMatchObject({ '/radio.mp3': '1/1', all: '1/1' })
})
