import { expect, test } from 'vitest'

import type { PolledServer } from '../../../src/radio/polls/poll-rows.ts'
import { fetchFromServer } from '../../../src/radio/polls/poll-servers.ts'
import { type ServerStream, StreamingServerError } from '../../../src/radio/server-stream.ts'

const secrets = { open: (sealed: string) => `open ${sealed}` }
const remote = (url: string): PolledServer => ({
  remoteId: 3,
  kind: 'icecast',
  url,
  password: 'sealed',
  mounts: []
})
const stream = (path: string): ServerStream => ({
  path,
  id: 0,
  isConnected: true,
  total: 2,
  unique: 2,
  artist: '',
  title: '',
  bitrate: 0,
  format: ''
})

/** Servers by their address; others respond with 404. */
async function poll(url: string, servers: Readonly<Record<string, readonly string[]>>) {
  const asked: string[] = []
  const found = await fetchFromServer(remote(url), secrets, async (server, select) => {
    asked.push(`${server.url} ${server.password}`)
    const paths = servers[server.url]
    if (!paths) throw new StreamingServerError('The server responded with status 404.')
    return { streams: select(paths.map(stream)), problem: '' }
  }).catch((error: Error) => error.message)
  return {
    found: typeof found === 'string' ? found : found.streams.map(({ path }) => path),
    asked: asked.map(each => each.replace(' open sealed', ''))
  }
}

const host = 'https://host.example'

test.each([
  ['/main.mp3', { [host]: ['/main.mp3', '/low.mp3'] }, ['/main.mp3'], ['']],
  ['/radio/main.mp3', { [host]: ['/radio/main.mp3'] }, ['/radio/main.mp3'], ['']],
  // A proxy passes `/radio/` to an Icecast that has the mount `/main.mp3`.
  ['/radio/main.mp3', { [`${host}/radio`]: ['/main.mp3'] }, ['/radio/main.mp3'], ['', '/radio']],
  [
    '/radio/main.mp3',
    { [host]: ['/main.mp3'], [`${host}/radio`]: ['/main.mp3'] },
    ['/radio/main.mp3'],
    ['', '/radio']
  ],
  ['/a/b/c.mp3', { [`${host}/a/b`]: ['/c.mp3'] }, ['/a/b/c.mp3'], ['', '/a', '/a/b']],
  // The source is not connected.
  ['/radio/main.mp3', { [host]: [] }, [], ['', '/radio']],
  ['/radio/main.mp3', {}, 'The server responded with status 404.', ['', '/radio']]
] as const)('the stream %s of the servers %j', async (path, servers, found, asked) => {
  expect(await poll(host + path, servers)).toEqual({ found, asked: asked.map(each => host + each) })
})

test('the address of the server of a station is used as it is', async () => {
  const server: PolledServer = {
    ...remote('http://127.0.0.1:8000/radio'),
    remoteId: null,
    mounts: [{ id: 1, path: '/main.mp3', isDefault: true }]
  }
  const found = await fetchFromServer(server, secrets, async ({ url }, select) => ({
    streams: select([stream('/main.mp3'), stream('/other.mp3')]),
    problem: url
  }))
  expect(found).toEqual({ streams: [stream('/main.mp3')], problem: 'http://127.0.0.1:8000/radio' })
})
