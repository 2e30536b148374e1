import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'

import { describe, expect } from 'vitest'

import { findFreePort } from '../../src/platform/process/ports.ts'
import { test } from '../support/fixtures.ts'
import { type RunningProgram, startServer } from '../support/program.ts'
import { listen } from '../support/radio-people.ts'
import { type RadioWatch, watchRadio } from '../support/radio-watch.ts'
import { openRadio, type Radio, whyNoRadio } from '../support/radio.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { waitFor } from '../support/wait.ts'
import { startWorkers } from '../support/worker-process.ts'

const soon = { deadlineMs: 30_000 }

const playsOf = ({ sql }: Pick<RunningProgram, 'sql'>, { stationId }: Radio) => sql<
  { id: number; text: string; startedAtMs: number; endedAtMs: number | null; isProvisional: boolean }[]
>`
  select id, artist || ' - ' || title as text, started_at_ms as "startedAtMs", ended_at_ms as "endedAtMs",
    is_bridged as "isProvisional"
  from song_history where station_id = ${stationId} order by started_at_ms, id`

/** The songs in the stream metadata of Icecast, in order. */
const streamedSongs = (watch: RadioWatch) =>
  watch.streamed.map(({ value }) => value).filter(value => value !== '')

async function songs(watch: RadioWatch, count: number): Promise<void> {
  const from = watch.streamed.length
  const isDone = () =>
    watch.streamed.length >= from + count &&
    watch.shown.at(-1)?.value.endsWith(watch.streamed.at(-1)?.value ?? '-')
  await waitFor(isDone, { deadlineMs: count * 20_000 + 10_000, what: 'songs' })
}

/** The history has the streamed songs, in order, without overlap and without other songs. */
async function expectHistory(
  program: Pick<RunningProgram, 'sql'>,
  radio: Radio,
  watch: RadioWatch
): Promise<void> {
  const plays = await playsOf(program, radio)
  const streamed = streamedSongs(watch)
  expect(plays.map(({ text }) => text).slice(-streamed.length)).toEqual(streamed)
  for (const [index, { endedAtMs }] of plays.slice(0, -1).entries())
    expect(endedAtMs).toBeLessThanOrEqual(plays[index + 1]?.startedAtMs ?? 0)
}

describe.skipIf(whyNoRadio() !== null)('a real radio continues', () => {
  test('during an outage of Icecast for ten seconds', { timeout: 180_000 }, async ({ program }) => {
    await using radio = await openRadio(program, { shortName: 'no_icecast' })
    await using watch = watchRadio(program, radio)
    using listener = await listen(radio.mountUrl())
    await waitFor(() => watch.newest()?.listeners.total === 1, { ...soon, what: 'the listener' })
    await radio.icecast.kill()
    const before = watch.shown.length
    await pause(10_000)
    expect(watch.newest()).toMatchObject({ is_online: true, listeners: { total: 1 } })
    expect(watch.shown.length).toBeGreaterThan(before)
    await radio.icecast.start()
    await waitFor(() => watch.newest()?.listeners.total === 0, { ...soon, what: 'the count' })
    const plays = await playsOf(program, radio)
    expect(plays.slice(0, -1).map(({ endedAtMs }) => endedAtMs)).toEqual(
      plays.slice(1).map(each => each.startedAtMs)
    )
    expect(listener.bytes()).toBeGreaterThan(0)
  })

  test('with a wrong password for Icecast', { timeout: 120_000 }, async ({ program }) => {
    await using radio = await openRadio(program, { shortName: 'wrong_password' })
    const body = { frontend_admin_password: 'no idea' }
    await program.ask('PUT', `/api/admin/station/${radio.stationId}`, { body })
    await using watch = watchRadio(program, radio)
    using first = await listen(radio.mountUrl())
    using second = await listen(radio.mountUrl())
    await waitFor(() => watch.newest()?.listeners.total === 2, { ...soon, what: 'the listeners' })
    const problem = async () =>
      JSON.stringify((await program.ask('GET', `/api/station/${radio.stationId}/polls`)).body)
    await waitFor(async () => /password/i.test(await problem()), { ...soon, what: 'the problem' })
    expect(await problem()).not.toContain('no idea')
    expect(first.bytes() + second.bytes()).toBeGreaterThan(0)
  })

  test('after Liquidsoap was killed in the middle of a song', { timeout: 180_000 }, async ({ program }) => {
    await using radio = await openRadio(program, { shortName: 'killed' })
    await using watch = watchRadio(program, radio)
    await songs(watch, 1)
    await pause(2_000)
    const next = watch.newest().playing_next.song.text
    const cut = watch.newest().now_playing.sh_id
    await radio.liquidsoap.kill()
    const killedMs = Date.now()
    await pause(2_000)
    await radio.liquidsoap.start()
    await songs(watch, 2)
    await expectHistory(program, radio, watch)
    const plays = await playsOf(program, radio)
    expect(plays.filter(({ isProvisional }) => isProvisional)).toEqual([])
    expect(Math.abs((plays.find(({ id }) => id === cut)?.endedAtMs ?? 0) - killedMs)).toBeLessThan(1_000)
    expect(plays.map(({ text }) => text)).toContain(next)
  })

  test('as silence if Liquidsoap stays away', { timeout: 120_000 }, async ({ program }) => {
    await using radio = await openRadio(program, { shortName: 'gone', melodySeconds: 60 })
    await using watch = watchRadio(program, radio)
    await waitFor(() => watch.newest()?.is_online, { ...soon, what: 'a song' })
    const killedMs = Date.now()
    await radio.liquidsoap.kill()
    await waitFor(() => watch.newest().is_online === false, { ...soon, what: 'silence' })
    const plays = await playsOf(program, radio)
    expect(Math.abs((plays.at(-1)?.endedAtMs ?? 0) - killedMs)).toBeLessThan(2_000)
  })

  test(
    'after Cuewire was killed in the middle of a song',
    { timeout: 180_000 },
    async ({ databaseUrl, redisUrl, sql }) => {
      await using folder = await openTempFolder()
      const variables = { PORT: String(await findFreePort()) }
      const serve = () => startServer(databaseUrl, redisUrl, folder.path, variables)
      const work = () => startWorkers(databaseUrl, redisUrl, { DATA_DIR: folder.path })
      using first = await serve()
      const firstWorkers = work()
      const { ask, baseUrl } = first
      const program = { ask, baseUrl, sql, dataDir: folder.path }
      await using radio = await openRadio(program, { melodySeconds: 12 })
      await using watch = watchRadio(program, radio)
      await songs(watch, 2)
      await pause(3_000)
      first.process.kill('SIGKILL')
      firstWorkers.kill('SIGKILL')
      const during = watch.streamed.length
      await waitFor(() => watch.streamed.length > during, {
        deadlineMs: 30_000,
        what: 'a song that is not reported'
      })
      await pause(3_000)
      using second = await serve()
      const secondWorkers = work()
      try {
        await songs(watch, 2)
        await expectHistory(program, radio, watch)
      } finally {
        second.process.kill('SIGKILL')
        secondWorkers.kill('SIGKILL')
        await once(secondWorkers, 'exit')
      }
    }
  )
})
