import { execFile, spawn } from 'node:child_process'
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { describe, expect, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'

import { followStation } from '../../web/client/client.ts'
import type { FollowOptions, Transport } from '../../web/client/interface.ts'
import { test } from '../support/fixtures.ts'
import { codeIn } from '../support/marked-code.ts'
import { askPlainly } from '../support/plain-http.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { sized } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'

/** Limit for a change to arrive. The quick tier runs on busy machines. */
const soonMs = sized({ quick: 5_000, deep: 300 })

const transports: readonly Transport[] = ['websocket', 'sse', 'poll']

/** Follows until the test ends. */
function follow(options: FollowOptions) {
  const follower = followStation({ WebSocket, ...options })
  onTestFinished(() => follower.close())
  return {
    follower,
    shows: (title: string, deadlineMs = 5_000) =>
      waitFor(
        () => follower.snapshot.status === 'live' && follower.snapshot.np?.now_playing.song.title === title,
        { deadlineMs, what: `the client to show ${title}` }
      )
  }
}

test('over every transport changes arrive at once, and the client reconnects to a restarted server', async ({
  stage
}) => {
  const station = await stage.put()
  const all = transports.map(transport => ({
    songs: [] as string[],
    ...follow({ server: stage.baseUrl, station: station.shortName, transports: [transport] })
  }))
  for (const { follower, songs } of all)
    follower.on('song', ({ np }) => songs.push(np.now_playing.song.title))
  const allShow = async (title: string, deadlineMs: number) =>
    Promise.all(all.map(async ({ shows }) => shows(title, deadlineMs)))
  await allShow('Paper Lanterns', 5_000)
  expect(all.map(({ follower }) => follower.snapshot.via)).toEqual(transports)
  for (const title of ['Night Ferry', 'Tidewater']) {
    await station.play(title)
    await allShow(title, soonMs)
  }
  const startedMs = station.state().shown?.startedAtMs ?? 0
  for (const { follower } of all) {
    const { elapsedMs = NaN } = follower.progress() ?? {}
    expect(Math.abs(elapsedMs - (Date.now() - startedMs))).toBeLessThan(1_100)
  }
  await stage.restart('SIGKILL', async () => station.play('Meanwhile'))
  await allShow('Meanwhile', 40_000)
  for (const { songs } of all)
    expect(songs).toEqual(['Paper Lanterns', 'Night Ferry', 'Tidewater', 'Meanwhile'])
}, 60_000)

describe.for(transports)('over %s', transport => {
  test('a private station needs a key', async ({ stage }) => {
    const station = await stage.put({ profile: { isPublic: false } })
    const { key } = await stage.makeKey()
    const options = { server: stage.baseUrl, station: station.id, transports: [transport] }
    const allowed = follow({ ...options, apiKey: key })
    const { follower: unauthorized } = follow(options)
    await allowed.shows('Paper Lanterns')
    await waitFor(() => unauthorized.snapshot.reason === 'unknown', {
      deadlineMs: 5_000,
      what: 'the client without a key to be refused'
    })
    expect(unauthorized.snapshot).toMatchObject({ status: 'offline', np: null })
  })
})

test('if the first transports are blocked, the next one is used', async ({ stage }) => {
  const station = await stage.put()
  const requested: string[] = []
  const withoutStreams: FollowOptions['fetch'] = async (url, init) => {
    requested.push(new URL(url).pathname)
    return url.includes('/sse') ? new Response('', { status: 403 }) : fetch(url, init)
  }
  class Blocked extends WebSocket {
    constructor() {
      // Nothing listens there.
      super('ws://127.0.0.1:9')
    }
  }
  const { follower, shows } = follow({
    server: stage.baseUrl,
    station: station.shortName,
    WebSocket: Blocked,
    fetch: withoutStreams
  })
  await shows('Paper Lanterns')
  expect(follower.snapshot.via).toBe('poll')
  await station.play('Night Ferry')
  await shows('Night Ferry', soonMs)
  expect(requested.slice(0, 3)).toEqual([
    '/api/live/nowplaying/sse',
    '/api/time',
    `/api/nowplaying_static/${station.shortName}.json`
  ])
})

test('events report a DJ and the station going off the air', async ({ stage }) => {
  const station = await stage.put()
  const { follower, shows } = follow({ server: stage.baseUrl, station: station.shortName })
  const events: string[] = []
  follower.on('live', ({ np }) => events.push(`live ${np.live.streamer_name}`))
  follower.on('air', ({ isOnline }) => events.push(`on air ${isOnline}`))
  await shows('Paper Lanterns')
  await station.change({ live: { streamerName: 'DJ Wren', startedAtMs: Date.now(), art: '' } }, [
    'live_connect'
  ])
  await waitFor(() => events.length > 0, { deadlineMs: 5_000, what: 'the DJ' })
  await station.change({ live: null, current: null, shown: null }, ['live_disconnect', 'station_offline'])
  await shows('Station Offline')
  expect(events).toEqual(['live DJ Wren', 'live ', 'on air false'])
  expect(follower.progress()).toBeNull()
})

test('a listener that throws does not affect other listeners', async ({ stage }) => {
  const station = await stage.put()
  const { follower, shows } = follow({ server: stage.baseUrl, station: station.shortName })
  const thrown: unknown[] = []
  const before = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  process.once('uncaughtException', error => thrown.push(error))
  onTestFinished(() => before.forEach(listener => process.on('uncaughtException', listener)))
  follower.on('song', () => {
    throw new Error('mine')
  })
  const songs: string[] = []
  follower.on('song', ({ np }) => songs.push(np.now_playing.song.title))
  await shows('Paper Lanterns')
  expect(songs).toEqual(['Paper Lanterns'])
  expect(thrown).toEqual([new Error('mine')])
})

const examples = await codeIn('client.md', 'js')

/** What each example prints for a station that plays. */
const expected: Readonly<Record<string, RegExp>> = {
  'In Node': /^(Nils Okada: Paper Lanterns|websocket 0)$/,
  'Snapshot and status': /^up to date$/,
  Progress: /^\d+ of 215$/,
  'What is heard': /^heard now: Nils Okada - Paper Lanterns$/,
  Events: /^first: Paper Lanterns$/,
  'Private stations': /^Nils Okada - Paper Lanterns$/
}

test.for(examples)(
  'the example under "$heading" works as documented',
  async ({ heading, code }, { stage }) => {
    await using folder = await openTempFolder()
    const station = await stage.put()
    const { key } = await stage.makeKey()
    const { body } = await askPlainly(`${stage.baseUrl}/client.js`)
    await writeFile(join(folder.path, 'package.json'), '{"type":"module"}')
    await writeFile(join(folder.path, 'client.js'), body)
    const here = code
      .replaceAll('https://radio.example.com', stage.baseUrl)
      .replaceAll("'demo'", `'${station.shortName}'`)
    await writeFile(join(folder.path, 'example.js'), here)
    const modules = fileURLToPath(new URL('../../node_modules', import.meta.url))
    await symlink(modules, join(folder.path, 'node_modules'))
    const child = spawn(process.execPath, [join(folder.path, 'example.js')], {
      env: { CUEWIRE_KEY: key },
      stdio: ['ignore', 'pipe', 'pipe']
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const lines: string[] = []
    const errors: string[] = []
    createInterface(child.stderr).on('line', line => errors.push(line))
    createInterface(child.stdout).on('line', line => lines.push(line))
    await waitFor(() => lines.length > 0, { deadlineMs: 10_000, what: 'the example to print something' })
    expect(lines[0]).toMatch(expected[heading] ?? /never/)
    expect(errors).toEqual([])
  }
)

test('the examples compile as strict TypeScript', async ({ stage }) => {
  await using folder = await openTempFolder()
  const modules = fileURLToPath(new URL('../../node_modules', import.meta.url))
  await symlink(modules, join(folder.path, 'node_modules'))
  const { body } = await askPlainly(`${stage.baseUrl}/client.d.ts`)
  await writeFile(join(folder.path, 'client.d.ts'), body)
  await writeFile(join(folder.path, 'package.json'), '{"type":"module"}')
  const files = examples.map((_, index) => `example-${index}.ts`)
  await Promise.all(
    files.map((file, index) => writeFile(join(folder.path, file), examples[index]?.code ?? ''))
  )
  const tsc = join(modules, 'typescript/bin/tsc')
  const strict =
    '--noEmit --strict --target es2023 --lib es2023,dom --module nodenext --types node --skipLibCheck'
  const checked = await promisify(execFile)(process.execPath, [tsc, ...strict.split(' '), ...files], {
    cwd: folder.path
  }).catch((error: unknown) => error)
  expect(checked).toMatchObject({ stdout: '', stderr: '' })
}, 60_000)
