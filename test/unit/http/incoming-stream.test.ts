import { setImmediate as nextTurn } from 'node:timers/promises'

import { expect, test } from 'vitest'

import { openIncomingStream } from '../../../src/http/incoming-stream.ts'
import { openPace } from '../../../src/http/pace.ts'

const chunk = new ArrayBuffer(512 * 1024)

/** A body whose connection calls back `receive`, also while it is paused, as uWebSockets.js does. */
function openBody(pace = openPace(0)) {
  let receive: (chunk: ArrayBuffer, isLast: boolean) => void = () => {}
  let isClosed = false
  const calls: string[] = []
  const stream = openIncomingStream(
    {
      onData: handler => {
        receive = handler
      },
      // Chunks that arrive although it is paused pause it again.
      pause: () => calls.at(-1) === 'pause' || calls.push('pause'),
      resume: () => calls.push('resume'),
      close: () => {
        isClosed = true
        stream.abort()
      }
    },
    null,
    { pace, onEnd: () => {} }
  )
  return {
    stream,
    receive: (isLast: boolean) => receive(chunk, isLast),
    receiveEmpty: () => receive(new ArrayBuffer(0), false),
    isClosed: () => isClosed,
    calls
  }
}

test('a sender that is faster than the reader is cut off above 32 MiB, and what has arrived can be read', async () => {
  const { stream, receive, isClosed } = openBody()
  let sent = 0
  for (; sent < 200 && !isClosed(); sent++) receive(false)
  expect(sent).toBe(65)
  let read = 0
  for (; read < sent * chunk.byteLength;) read += (await stream.read())?.length ?? Number.NaN
  expect(read).toBe(sent * chunk.byteLength)
  await expect(stream.read()).rejects.toThrow('aborted')
})

test('a body that is read as it comes has no limit', async () => {
  const { stream, receive, isClosed } = openBody()
  for (let sent = 0; sent < 200; sent++) {
    receive(sent === 199)
    for (let taken = 0; taken < chunk.byteLength;) taken += (await stream.read())?.length ?? Number.NaN
  }
  expect(await stream.read()).toBeNull()
  expect(isClosed()).toBe(false)
})

test('each piece is read at the pace, and what is dropped is not', async () => {
  const paced: number[] = []
  const { stream, receive } = openBody(async bytes => void paced.push(bytes))
  receive(false)
  receive(true)
  const first = await stream.read()
  expect(paced).toEqual([first?.length])
  expect(await stream.discard()).toBe(true)
  expect(paced).toEqual([first?.length])
})

test('a body is resumed when it was read', async () => {
  const { stream, receive, calls } = openBody()
  receive(false)
  receive(false)
  expect(calls).toEqual(['pause'])
  for (let read = 0; read < 2 * chunk.byteLength;) read += (await stream.read())?.length ?? Number.NaN
  await expect.poll(() => calls).toEqual(['pause', 'resume'])
})

test('a whole body is not resumed before the response, because its client may be silent for ten seconds then', async () => {
  const { stream, receive, calls } = openBody()
  receive(false)
  receive(false)
  receive(true)
  while ((await stream.read()) !== null);
  await nextTurn()
  expect(calls).toEqual(['pause'])
  expect(await stream.discard()).toBe(true)
  expect(calls).toEqual(['pause', 'resume'])
})

test('a client that has left is not resumed', async () => {
  const { stream, receive, calls } = openBody()
  receive(false)
  receive(false)
  receive(true)
  const discarded = stream.discard()
  stream.abort()
  await discarded
  expect(calls).toEqual(['pause'])
})

test('while many bodies are unread, others are paused at once and resumed in turn', async () => {
  const large = Array.from({ length: 3 }, () => openBody())
  for (const { receive } of large) for (let sent = 0; sent < 24; sent++) receive(false)
  const small = openBody()
  small.receive(false)
  expect(small.calls).toEqual(['pause'])
  await small.stream.read()
  await small.stream.read()
  await nextTurn()
  expect(small.calls).toEqual(['pause'])
  for (const { stream, receive } of large) {
    receive(true)
    expect(await stream.discard()).toBe(true)
  }
  await expect.poll(() => small.calls).toEqual(['pause', 'resume'])
})

test('a chunk that arrives although the body is paused pauses it again, because it starts a timeout', () => {
  let pauses = 0
  let receive: (chunk: ArrayBuffer, isLast: boolean) => void = () => {}
  const res = {
    onData: (handler: typeof receive) => void (receive = handler),
    pause: () => ++pauses,
    resume: () => {},
    close: () => {}
  }
  openIncomingStream(res, null, { pace: openPace(0), onEnd: () => {} })
  for (let sent = 0; sent < 4; sent++) receive(chunk, false)
  expect(pauses).toBe(3)
})

test('an empty chunk that is paused because others are unread is resumed in turn', async () => {
  const large = Array.from({ length: 3 }, () => openBody())
  for (const { receive } of large) for (let sent = 0; sent < 24; sent++) receive(false)
  const small = openBody()
  small.receiveEmpty()
  expect(small.calls).toEqual(['pause'])
  const read = small.stream.read()
  for (const { stream, receive } of large) {
    receive(true)
    await stream.discard()
  }
  await expect.poll(() => small.calls).toEqual(['pause', 'resume'])
  small.receive(true)
  expect((await read)?.length).toBeGreaterThan(0)
  await small.stream.discard()
})

test('a chunk after the response does not use the connection', async () => {
  const { stream, receive, calls } = openBody()
  const discarded = stream.discard()
  receive(true)
  await discarded
  receive(false)
  receive(false)
  receive(false)
  expect(calls).toEqual([])
})

test('a refused body does not wait for the turn of others', async () => {
  const large = Array.from({ length: 3 }, () => openBody())
  for (const { receive } of large) for (let sent = 0; sent < 24; sent++) receive(false)
  const refused = openBody()
  refused.receiveEmpty()
  expect(refused.calls).toEqual(['pause'])
  const discarded = refused.stream.discard()
  await expect.poll(() => refused.calls).toEqual(['pause', 'resume'])
  refused.receive(true)
  expect(await discarded).toBe(true)
  for (const { stream, receive } of large) {
    receive(true)
    await stream.discard()
  }
})
