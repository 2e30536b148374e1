import { spawn } from 'node:child_process'
import { readFile, symlink, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { expect, onTestFinished, test } from 'vitest'

import { triggerNames } from '../../src/model/station/triggers.ts'
import { guardedFetch } from '../../src/platform/outbound/guarded-fetch.ts'
import { toNetworkList } from '../../src/platform/outbound/networks.ts'
import { findFreePort } from '../../src/platform/process/ports.ts'
import { getHookType } from '../../src/webhooks/types/hook-types.ts'
import { generateSigningSecret } from '../../src/webhooks/types/signature.ts'
import { anEvent, nowPlayingOf, aPlayingStation } from '../support/hook-events.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { waitFor } from '../support/wait.ts'

const page = await readFile(new URL('../../docs/webhooks.md', import.meta.url), 'utf8')
const root = fileURLToPath(new URL('../..', import.meta.url))

test('the page for receivers names every trigger', () => {
  expect(triggerNames.filter(trigger => !page.includes(`\`${trigger}\``))).toEqual([])
})

/** Runs the receiver of the page as documented there, and returns its output lines. */
async function startReceiver(secret: string) {
  const [, code] = /```ts\n(.*?)```/s.exec(page) ?? []
  if (code === undefined) throw new Error('there is no receiver in TypeScript')
  const folder = await scratchFolder()
  await writeFile(join(folder, 'receiver.ts'), code)
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  const port = await findFreePort()
  const child = spawn(process.execPath, ['--import', 'tsx', join(folder, 'receiver.ts')], {
    cwd: root,
    env: { CUEWIRE_SECRET: secret, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines: string[] = []
  createInterface(child.stdout).on('line', line => lines.push(line))
  const isListening = () =>
    new Promise<boolean>(resolve => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
  await waitFor(isListening, { deadlineMs: 20_000, what: 'the receiver to listen' })
  return { url: `http://127.0.0.1:${port}/`, port, lines }
}

/** Sends the request of a web hook with these secrets, with the changes of the test. */
async function sendTo(
  url: string,
  [secret, ...formerSecrets]: readonly [string, ...string[]],
  { event = {}, at = Math.floor(Date.now() / 1000), change = (body: string) => body } = {}
): Promise<number> {
  const config = { webhook_url: url, signing_secret: secret }
  const sending = getHookType('generic').send(anEvent(event), config, { at, formerSecrets })
  const [request] = sending.kind === 'requests' ? sending.requests : []
  if (!request) throw new Error(sending.kind)
  const { method, headers, body = '' } = request
  const allowed = toNetworkList(['127.0.0.0/8'])
  const { status } = await guardedFetch(url, { allowed, method, headers, body: change(body) })
  return status
}

test('the receiver of the page accepts the requests of a web hook once, and nothing else', async () => {
  const secret = generateSigningSecret()
  const { url, port, lines } = await startReceiver(secret)
  const title = (text: string) => ({ nowPlaying: nowPlayingOf(aPlayingStation({ title: text })) })

  expect(await sendTo(url, [secret], { event: { id: 'evt_1', ...title('One') } })).toBe(204)
  // A repetition; a secret that was replaced an hour ago; another kind of event.
  expect(await sendTo(url, [secret], { event: { id: 'evt_1', ...title('One') } })).toBe(204)
  expect(
    await sendTo(url, [generateSigningSecret(), secret], { event: { id: 'evt_2', ...title('Two') } })
  ).toBe(204)
  expect(await sendTo(url, [secret], { event: { id: 'evt_3', triggers: ['listener_gained'] } })).toBe(204)

  const now = Math.floor(Date.now() / 1000)
  expect([
    await sendTo(url, [generateSigningSecret()]),
    await sendTo(url, ['']),
    await sendTo(url, [secret], { change: body => `${body} ` }),
    await sendTo(url, [secret], { at: now - 600 }),
    await sendTo(url, [secret], { at: now + 600 }),
    await sendTo(url, [secret], { change: body => body.padEnd(40_000) })
  ]).toEqual([401, 401, 401, 401, 401, 413])

  const broken = connect(port, '127.0.0.1', () =>
    broken.write('POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nx')
  )
  await waitFor(() => broken.bytesWritten > 0, { deadlineMs: 5_000, what: 'half a request' })
  broken.destroy()
  expect(await sendTo(url, [secret], { event: { id: 'evt_4', ...title('Four') } })).toBe(204)
  await waitFor(() => lines.length === 3, { deadlineMs: 5_000, what: 'three lines' })
  expect(lines.map(line => line.replace(/^.*: /, ''))).toEqual([
    expect.stringContaining('One'),
    expect.stringContaining('Two'),
    expect.stringContaining('Four')
  ])
})
