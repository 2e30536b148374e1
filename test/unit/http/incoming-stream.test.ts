import { setImmediate as nextTurn } from 'node:timers/promises'

import { expect, onTestFinished, test, vi } from 'vitest'

import { openIncomingStream } from '../../../src/http/incoming-stream.ts'

const chunk = new ArrayBuffer(512 * 1024)

/** A body whose connection calls back `receive`, also while it is paused, as uWebSockets.js does. */
function openBody() {
  let receive: (chunk: ArrayBuffer, isLast: boolean) => void = () => {}
  const calls: string[] = []
  const stream = openIncomingStream(
    {
      onData: handler => {
        receive = handler
      },
      pause: () => calls.push('pause'),
      resume: () => calls.push('resume')
    },
    null,
    {
      openSpool: () => {
        throw new Error('there is no file')
      },
      onEnd: () => {}
    }
  )
  onTestFinished(() => stream.release())
  return {
    stream,
    receive: (isLast: boolean) => receive(chunk, isLast),
    receiveBytes: (bytes: number) => receive(new ArrayBuffer(bytes), false),
    calls
  }
}

async function readBytes({ read }: { readonly read: () => Promise<Uint8Array | null> }, bytes: number) {
  for (let taken = 0; taken < bytes;) taken += (await read())?.length ?? Number.NaN
}

test('a body in small chunks that is read as it comes is not paused', async () => {
  const { stream, receive, receiveBytes, calls } = openBody()
  for (let sent = 0; sent < 200; sent++) {
    receiveBytes(60_000)
    await readBytes(stream, 60_000)
  }
  expect(calls).toEqual([])
  receive(true)
  await readBytes(stream, chunk.byteLength)
  expect(await stream.read()).toBeNull()
  expect(calls).toEqual([])
})

test('a body is paused with each chunk that arrives nevertheless, and resumed when it was read', async () => {
  const { stream, receive, calls } = openBody()
  for (let sent = 0; sent < 4; sent++) receive(false)
  // A chunk starts a timeout, which only a pause ends.
  expect(calls).toEqual(['pause', 'pause', 'pause', 'pause'])
  await readBytes(stream, 4 * chunk.byteLength)
  await expect.poll(() => calls.at(-1)).toBe('resume')
})

test('a whole body is not resumed before the response, because its client may be silent for ten seconds then', async () => {
  const { stream, receive, calls } = openBody()
  receive(false)
  receive(true)
  while ((await stream.read()) !== null);
  await nextTurn()
  await nextTurn()
  expect(calls).toEqual(['pause'])
  stream.release()
  expect(calls).toEqual(['pause', 'resume'])
})

test('a client that has left is not resumed, and what has arrived can be read', async () => {
  const { stream, receive, calls } = openBody()
  receive(false)
  stream.abort()
  await readBytes(stream, chunk.byteLength)
  await expect(stream.read()).rejects.toThrow('aborted')
  stream.release()
  expect(calls).toEqual(['pause'])
})

test('what arrives after the response is dropped', async () => {
  const { stream, receive, calls } = openBody()
  stream.release()
  for (let sent = 0; sent < 200; sent++) receive(false)
  expect(calls).toEqual([])
  expect(stream.isComplete()).toBe(false)
  receive(true)
  await stream.whenComplete(10_000)
  expect(stream.isComplete()).toBe(true)
})

test('a client that sends slowly stays connected, and one that sends nothing for 30 seconds is refused', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const { stream, receiveBytes, calls } = openBody()
  for (let second = 0; second < 120; second += 20) {
    receiveBytes(1)
    expect(await stream.read()).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(20_000)
  }
  expect(calls).toEqual(Array.from({ length: 30 }, () => ['pause', 'resume']).flat())
  const reading = stream.read().catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(30_000)
  expect(await reading).toMatchObject({ status: 408, message: 'No content was sent for 30 seconds.' })
})

test('an error of the file is thrown once what arrived before was read', async () => {
  const { stream, receive } = openBody()
  // More than the memory of all bodies.
  for (let sent = 0; sent < 136; sent++) receive(false)
  receive(true)
  await readBytes(stream, 128 * chunk.byteLength)
  await expect(stream.read()).rejects.toThrow('there is no file')
})
