import { expect, test } from 'vitest'

import { openFollowers } from '../../../src/live/followers.ts'
import { openLiveSession } from '../../../src/live/session.ts'

const aSession = (name: 'websocket' | 'sse' = 'websocket') =>
  openLiveSession(
    { name, send: () => true, ping: () => {}, waitingBytes: () => 0, close: () => {}, cork: run => run() },
    { key: '', delayMs: 0, owner: { name: 'a', connections: 1 } },
    0
  )
const counts = (websocket: number, sse = 0, poll = 0) => ({
  websocket,
  sse,
  http_stream: 0,
  long_poll: poll
})

test('sessions and long polls are counted once for each station, by transport', () => {
  const followers = openFollowers()
  const [one, other] = [aSession(), aSession('sse')]
  followers.follow(one, [1, 2])
  followers.follow(other, [1])
  expect(followers.alsoFollow(one, 1)).toBe(true)
  const endPoll = followers.admitLongPoll(1)
  expect(followers.drainChanges()).toEqual(
    new Map([
      [1, counts(1, 1, 1)],
      [2, counts(1)]
    ])
  )
  expect(followers.drainChanges()).toEqual(new Map())
  followers.follow(one, [1])
  endPoll?.()
  expect(followers.drainChanges()).toEqual(
    new Map([
      [2, null],
      [1, counts(1, 1)]
    ])
  )
  followers.leave(one)
  followers.leave(one)
  expect(followers.all()).toEqual(new Map([[1, counts(0, 1)]]))
})

test('a full station takes no new followers, and keeps those it has', () => {
  const followers = openFollowers(2)
  const [one, other, third] = [aSession(), aSession(), aSession()]
  const endPoll = followers.admitLongPoll(1)
  expect([followers.follow(one, [1]), followers.follow(other, [1])]).toEqual([true, false])
  expect(followers.admitLongPoll(1)).toBeNull()
  expect(followers.follow(one, [1, 2])).toBe(true)
  expect(followers.follow(third, [2, 1])).toBe(false)
  expect(third.follows).toEqual([])
  expect(followers.alsoFollow(third, 1)).toBe(false)
  endPoll?.()
  expect(followers.follow(third, [2, 1])).toBe(true)
})
