import { array, assert, boolean, constantFrom, integer, nat, property, record, string } from 'fast-check'
import { describe, expect, test } from 'vitest'

import { LiveStation } from '../../../src/live/feed/live-station.ts'
import {
  renderConnectFrame,
  renderDeltaFrame,
  renderDisconnectFrame,
  renderChannelEntry,
  renderPublicationFrame,
  renderTimeFrame,
  emptyChannelEntry
} from '../../../src/live/frames.ts'
import { triggerNames } from '../../../src/model/station/triggers.ts'
import { aPlay, aSong, aStation, documented } from '../../support/builders.ts'

const topKeys = 'station listeners live now_playing playing_next song_history is_online cache'
const playingKeys = 'sh_id played_at duration playlist streamer is_request song elapsed remaining'

/** Keys in their order, for exact comparison. */
const keysOf = (value: unknown) => Object.keys(Object(value)).join(' ')

/** Parses a frame. Throws unless it is one line of JSON. */
function parseLine(frame: string) {
  if (/[\r\n]/.test(frame)) throw new Error('a frame has a line break in it')
  return JSON.parse(frame)
}

const stations = record({
  title: string(),
  artist: string(),
  name: string(),
  epoch: string(),
  offset: integer({ min: 1 }),
  isPlaying: boolean(),
  nowSeconds: nat()
}).map(({ title, artist, name, epoch, offset, isPlaying, nowSeconds }) => {
  const shown = isPlaying ? aPlay({ song: aSong({ title, artist }) }) : null
  const state = aStation({ epoch, offset, shown, profile: { name } })
  const document = LiveStation.of(state, documented).eventText(nowSeconds)
  return { snapshot: { epoch, offset, document, nowSeconds, staleSince: null }, title }
})

describe('every frame is one line of JSON with exactly its keys:', () => {
  test('publication', () => {
    const raised = array(constantFrom(...triggerNames))
    assert(
      property(stations, string(), raised, ({ snapshot }, channel, edges) => {
        const frame = parseLine(renderPublicationFrame(channel, snapshot, edges))
        expect(keysOf(frame)).toBe('channel pub')
        expect(frame.channel).toBe(channel)
        expect(keysOf(frame.pub)).toBe('data offset')
        expect(keysOf(frame.pub.data)).toBe('np triggers current_time')
        expect(keysOf(frame.pub.data.np)).toBe(topKeys)
        expect(keysOf(frame.pub.data.np.now_playing)).toBe(playingKeys)
        expect(frame.pub.data.triggers).toEqual(edges)
        expect(frame.pub.offset).toBe(snapshot.offset)
      })
    )
  })

  test('delta', () => {
    const patch = '{"listeners":{"total":7}}'
    const frame = parseLine(
      renderDeltaFrame('station:x', { patch, nowSeconds: 5, offset: 3 }, ['song_changed'])
    )
    expect(frame).toEqual({
      channel: 'station:x',
      pub: {
        delta: { np: { listeners: { total: 7 } }, triggers: ['song_changed'], current_time: 5 },
        offset: 3
      }
    })
  })

  test('connect with its entries', () => {
    assert(
      property(stations, string(), ({ snapshot }, channel) => {
        const entries = [
          [
            'a',
            renderChannelEntry(snapshot, { recover: true, isUpToDate: false, isDelta: false, heartbeatMs: 0 })
          ],
          [
            'b',
            renderChannelEntry(snapshot, {
              recover: false,
              isUpToDate: false,
              isDelta: false,
              heartbeatMs: 0
            })
          ],
          [
            'c',
            renderChannelEntry(snapshot, { recover: true, isUpToDate: true, isDelta: false, heartbeatMs: 0 })
          ],
          [
            'e',
            renderChannelEntry(snapshot, { recover: true, isUpToDate: true, isDelta: true, heartbeatMs: 0 })
          ],
          ['d', emptyChannelEntry],
          [`station:${channel}`, emptyChannelEntry]
        ] as const
        const ids = { client: 'c', session: 's', pingSeconds: 25, nowMs: 1_783_468_815_123 }
        const { connect } = parseLine(renderConnectFrame({ ...ids, entries }))
        expect(keysOf(connect)).toBe('client version subs ping session time')
        expect(new Set(Object.keys(connect.subs))).toEqual(
          new Set(['a', 'b', 'c', 'd', 'e', `station:${channel}`])
        )
        expect(keysOf(connect.subs.a)).toBe(
          'recoverable epoch publications recovered positioned was_recovering'
        )
        expect(connect.subs.a.publications).toHaveLength(1)
        expect(keysOf(connect.subs.a.publications[0])).toBe('data offset')
        expect(keysOf(connect.subs.b)).toBe('recoverable epoch offset positioned')
        expect(keysOf(connect.subs.c)).toBe('recoverable epoch recovered offset positioned was_recovering')
        expect(connect.subs.d).toEqual({})
        expect(connect.subs.e).toEqual({ ...connect.subs.c, delta: 'merge-patch' })
      })
    )
  })

  test('connect without subscriptions', () => {
    const frame = renderConnectFrame({ client: 'c', session: 's', pingSeconds: 25, nowMs: 1, entries: [] })
    expect(keysOf(parseLine(frame).connect)).toBe('client version ping session time')
  })

  test('time and disconnect', () => {
    expect(parseLine(renderTimeFrame(7))).toEqual({
      channel: 'global:time',
      pub: { data: { time: 7 }, offset: 7 }
    })
    expect(renderDisconnectFrame('shutdown')).toBe('{"disconnect":{"code":3001,"reason":"shutdown"}}')
  })
})
