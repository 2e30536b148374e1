import { describe, expect } from 'vitest'

import { withoutCustomFields } from '../support/custom-fields.ts'
import { test } from '../support/fixtures.ts'
import { followStation, queueOf, shownWhen, startPlaying } from '../support/playing.ts'
import type { JsonBody, Program } from '../support/program.ts'
import { seedStation } from '../support/stations.ts'

const itemKeys =
  'cued_at played_at duration playlist is_request song links sent_to_autodj is_played autodj_custom_uri log'

async function mediaOf(program: Program, stationId: number) {
  const rows = await program.sql<{ id: number; title: string }[]>`
    select id, title from media where station_id = ${stationId} order by id`
  const at = (index: number) => rows.at(index) ?? { id: 0, title: '' }
  return { rows, at }
}

const titles = (items: JsonBody[]) => items.map(({ song }) => song.title)

const skip = (program: Program, stationId: number) =>
  program.ask('POST', `/api/station/${stationId}/backend/skip`)

/** Every row begins where the previous one ends, and positions are distinct. */
async function expectWhole(program: Program, stationId: number) {
  const rows = await program.sql<{ seq: number; plays: number; cued: number; duration: number }[]>`
    select seq, plays_at_ms as plays, cued_at_ms as cued, duration_ms as duration from queue
    where station_id = ${stationId} and played_at_ms is null and skipped_at_ms is null order by position`
  const [play] = await program.sql<{ started: number; due: number }[]>`
    select started_at_ms as started, due_at_ms as due from song_history
    where station_id = ${stationId} and ended_at_ms is null`
  let { started = 0, due = 0 } = play ?? {}
  const expected = rows.map(({ duration }) => {
    const timing = { cued: started, plays: due }
    started = due
    due += duration
    return timing
  })
  expect(rows.map(({ cued, plays }) => ({ cued, plays }))).toEqual(expected)
  const [slots] = await program.sql`
    select count(*) = count(distinct seq) as "areDistinct", max(seq) < max(next_seq) as "areTaken"
    from queue q join stations s on s.id = q.station_id where s.id = ${stationId}`
  expect(slots).toEqual({ areDistinct: true, areTaken: true })
}

describe('a song queued manually', () => {
  test('comes before the songs of the AutoDJ; the response is its row', async ({ program }) => {
    const { id } = await startPlaying(program)
    const { at } = await mediaOf(program, id)
    const before = await queueOf(program, id)
    const { status, body } = await program.ask('POST', `/api/station/${id}/queue`, {
      body: { media_id: at(5).id }
    })
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(itemKeys.split(' '))
    expect(body).toMatchObject({
      playlist: '',
      is_request: false,
      duration: 60,
      is_played: false,
      sent_to_autodj: false,
      song: { title: at(5).title },
      log: [{ step: 'slot', at: body.played_at, why: 'manual' }]
    })
    const second = await program.ask('POST', `/api/station/${id}/queue`, { body: { media_id: at(6).id } })
    const queue = await queueOf(program, id)
    expect(queue.slice(0, 2)).toEqual(withoutCustomFields([body, second.body]))
    // Songs queued manually do not repeat after their rows.
    const others = titles(before).filter(title => title !== at(5).title && title !== at(6).title)
    expect(titles(queue.slice(2))).toEqual(others)
    const read = await program.ask('GET', new URL(body.links.self).pathname)
    expect(withoutCustomFields(read.body)).toEqual(withoutCustomFields(body))
    await expectWhole(program, id)
    const [audit] = await program.sql`
      select method, record, record_id from audit_log where station_id = ${id} order by id`
    expect(audit).toEqual({
      method: 'POST',
      record: 'QueueItem',
      record_id: body.links.self.split('/').at(-1)
    })
  })

  test('keeps its position among several, even twice the same, and plays at its time', async ({
    program
  }) => {
    const { id, document } = await startPlaying(program)
    const { rows, at } = await mediaOf(program, id)
    const onAir = rows.find(({ title }) => title === document.now_playing.song.title)
    const ids = [at(9).id, at(2).id, at(9).id, at(9).id, onAir?.id]
    const { body } = await program.ask('POST', `/api/station/${id}/queue`, { body: { media_ids: ids } })
    const given = ids.map(each => rows.find(row => row.id === each)?.title)
    expect(titles(body)).toEqual(given)
    expect(titles(await queueOf(program, id)).slice(0, 5)).toEqual(given)
    for (let step = 0; step < 5; step++) {
      expect((await skip(program, id)).status).toBe(200)
      await expectWhole(program, id)
    }
    const history = await program.sql<{ title: string; playlist: string }[]>`
      select title, playlist from song_history where station_id = ${id} order by id desc limit 5`
    expect(history.toReversed().map(({ title }) => title)).toEqual(given)
    expect(history.map(({ playlist }) => playlist)).toEqual(['', '', '', '', ''])
    expect((await queueOf(program, id)).length).toBe(3)
  })

  test('is published at once if nothing was next, and starts a silent station', async ({ program }) => {
    const { id, playlistId } = await startPlaying(program)
    const { at } = await mediaOf(program, id)
    const widget = await followStation(program, id)
    await program.ask('PUT', `/api/station/${id}/playlist/${playlistId}`, { body: { is_enabled: false } })
    await widget.next(np => np.playing_next === null)
    await program.ask('POST', `/api/station/${id}/queue`, { body: { media_id: at(3).id } })
    const { np } = await widget.next(each => each.playing_next !== null)
    expect(np.playing_next).toMatchObject({ playlist: '', song: { title: at(3).title } })
    expect(np.playing_next.played_at).toBe(np.now_playing.played_at + 60)

    await skip(program, id)
    await skip(program, id)
    await widget.next(each => !each.is_online)
    await program.ask('POST', `/api/station/${id}/queue`, { body: { media_ids: [at(4).id] } })
    const again = await widget.next(each => each.is_online)
    expect(again.np.now_playing.song.title).toBe(at(4).title)
  })

  test('takes one position each when many clients add songs concurrently', async ({ program }) => {
    const { id } = await startPlaying(program)
    const { rows } = await mediaOf(program, id)
    await Promise.all([
      ...rows.flatMap(({ id: media }) => [
        program.ask('POST', `/api/station/${id}/queue`, { body: { media_id: media } }),
        program.ask('POST', `/api/station/${id}/queue`, { body: { media_ids: [media, media] } })
      ]),
      skip(program, id),
      skip(program, id)
    ])
    expect(
      await program.sql`select from queue where station_id = ${id} and playlist_id is null`
    ).toHaveLength(30)
    await expectWhole(program, id)
  })

  test('cannot make the queue longer than 500', async ({ program }) => {
    const { id } = await startPlaying(program)
    const { rows } = await mediaOf(program, id)
    // A queued song would be replaced by the same song before it.
    const waiting = titles(await queueOf(program, id))
    const fresh = rows.find(({ title }) => !waiting.includes(title))
    const body = { media_ids: Array(100).fill(fresh?.id) }
    const responses = []
    for (let step = 0; step < 5; step++)
      responses.push(await program.ask('POST', `/api/station/${id}/queue`, { body }))
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 400])
    expect(responses[4]?.body.extra_data.errors[0].code).toBe('limit_reached')
    expect((await queueOf(program, id)).length).toBe(403)
    await expectWhole(program, id)
  })

  const refused: [name: string, body: unknown, problems: string[]][] = [
    ['nothing', {}, ['media_id: required']],
    ['no body', undefined, ['media_id: required']],
    ['a list', [1], ['media_id: required']],
    ['both', { media_id: 1, media_ids: [1] }, ['media_ids: duplicate']],
    ['types', { media_id: 'x' }, ['media_id: invalid_type']],
    ['zero', { media_id: 0 }, ['media_id: out_of_range']],
    ['no songs', { media_ids: [] }, ['media_ids: too_short']],
    ['no list', { media_ids: '1' }, ['media_ids: invalid_type']],
    [
      'wrong elements',
      { media_ids: [1, null, 'a', -1] },
      ['media_ids.1: required', 'media_ids.2: invalid_type', 'media_ids.3: out_of_range']
    ],
    ['too many', { media_ids: Array(101).fill(1) }, ['media_ids: too_long']],
    ['a huge list', { media_ids: Array(200_000).fill('x') }, ['media_ids: too_long']],
    ['an unknown song', { media_id: 999_999_999 }, ['media_id: not_found']]
  ]
  test.for(refused)('is refused if invalid: %s', async ([, body, problems], { program }) => {
    const id = await seedStation(program.sql, { tracks: 0 })
    const response = await program.ask('POST', `/api/station/${id}/queue`, { body })
    expect(response.status).toBe(400)
    expect(response.body.extra_data.errors.map(({ field, code }: JsonBody) => `${field}: ${code}`)).toEqual(
      problems
    )
    expect(await queueOf(program, id)).toEqual([])
  })

  test('of another station is refused together with all others', async ({ program }) => {
    const [one, other] = [await startPlaying(program), await startPlaying(program)]
    const [mine, foreign] = [await mediaOf(program, one.id), await mediaOf(program, other.id)]
    const response = await program.ask('POST', `/api/station/${one.id}/queue`, {
      body: { media_ids: [mine.at(0).id, foreign.at(0).id] }
    })
    expect(response.status).toBe(400)
    expect(response.body.extra_data.errors).toMatchObject([{ field: 'media_ids.1', code: 'not_found' }])
    expect(await queueOf(program, one.id)).toHaveLength(3)
  })
})

describe('clearing the queue', () => {
  test('removes all songs, also manual ones, refills the queue and publishes it at once', async ({
    program
  }) => {
    const { id } = await startPlaying(program, { tracks: 20 })
    const { at } = await mediaOf(program, id)
    await program.ask('POST', `/api/station/${id}/queue`, { body: { media_id: at(0).id } })
    const before = await queueOf(program, id)
    const widget = await followStation(program, id)
    const { status, body } = await program.ask('POST', `/api/station/${id}/queue/clear`)
    expect([status, body]).toEqual([
      200,
      { success: true, message: 'Queue cleared.', formatted_message: 'Queue cleared.' }
    ])
    const after = await queueOf(program, id)
    expect(after).toHaveLength(3)
    const gone = new Set(titles(before).slice(1))
    expect(titles(after).filter(title => gone.has(title))).toEqual([])
    await expectWhole(program, id)
    const { np } = await widget.next(each => each.playing_next.song.title === after[0].song.title)
    expect(np.playing_next.played_at).toBe(after[0].played_at)
    for (const item of before)
      expect((await program.ask('GET', new URL(item.links.self).pathname)).status).toBe(404)
    const [audit] = await program.sql`
      select method, record, path from audit_log where station_id = ${id} order by id desc limit 1`
    expect(audit).toEqual({ method: 'POST', record: 'Queue', path: `/api/station/${id}/queue/clear` })
  })

  test('keeps songs already sent to the playout', async ({ program }) => {
    const { id } = await startPlaying(program)
    const [first] = await queueOf(program, id)
    const rowId = Number(first.links.self.split('/').at(-1))
    await program.sql`update queue set is_sent = true where id = ${rowId}`
    await program.ask('POST', `/api/station/${id}/queue/clear`)
    const after = await queueOf(program, id)
    expect(after[0]).toEqual({ ...first, sent_to_autodj: true })
    expect(after).toHaveLength(3)
  })

  test('succeeds for a station without songs', async ({ program }) => {
    const id = await seedStation(program.sql, { tracks: 0 })
    expect((await program.ask('POST', `/api/station/${id}/queue/clear`)).status).toBe(200)
  })
})

test('writing to the queue requires the broadcasting permission', async ({ program }) => {
  const { id } = await startPlaying(program)
  const { at } = await mediaOf(program, id)
  const key = 'acacacacacacacac:dcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdc'
  await program.sql`
    insert into api_keys (name, identifier, verifier, permissions)
    values ('librarian', 'acacacacacacacac', sha256('dcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdc'), '["manage station media"]')`
  for (const path of ['queue', 'queue/clear']) {
    const response = await program.ask('POST', `/api/station/${id}/${path}`, {
      key,
      body: { media_id: at(0).id }
    })
    expect([response.status, response.body.type]).toEqual([403, 'PermissionDeniedException'])
  }
  expect(await shownWhen(program, id, () => true)).toMatchObject({ is_online: true })
})
