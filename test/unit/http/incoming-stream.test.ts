import { expect, test } from 'vitest'

import { openIncomingStream } from '../../../src/http/incoming-stream.ts'

const chunk = new ArrayBuffer(512 * 1024)

/** A body whose connection calls back `receive`, also while it is paused, as uWebSockets.js does. */
function openBody() {
  let receive: (chunk: ArrayBuffer, isLast: boolean) => void = () => {}
  let isClosed = false
  const stream = openIncomingStream(
    {
      onData: handler => {
        receive = handler
      },
      pause: () => {},
      resume: () => {},
      close: () => {
        isClosed = true
        stream.abort()
      }
    },
    null,
    () => {}
  )
  return { stream, receive: (isLast: boolean) => receive(chunk, isLast), isClosed: () => isClosed }
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
