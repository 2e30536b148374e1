import { expect, test } from 'vitest'

import { LiveStation } from '../../../src/live/feed/live-station.ts'
import { openStationCatalogue } from '../../../src/live/feed/station-catalogue.ts'
import { openStationRenderer } from '../../../src/model/station/renderer.ts'
import type { StationState } from '../../../src/model/station/state.ts'
import { afterSong, aPlay, aSong, aStation, documented } from '../../support/builders.ts'

const base = 'https://radio.example.com'
const azuracast = openStationRenderer('azuracast', base)
const open = (state: StationState) => LiveStation.of(state, documented)
const rest = (station: LiveStation, second: number) => station.document('rest', second, documented)
const event = (station: LiveStation, second: number) => station.document('event', second, documented)

/** Plays from second 90 to second 110. */
const playing = aStation({ shown: aPlay({ startedAtMs: 90_000, durationMs: 20_000 }) })

test('two documents have the same ETag exactly if they have the same body', () => {
  const stations = [
    playing,
    afterSong(playing),
    { ...playing, offset: 9 },
    aStation({ ...playing, profile: { description: 'Louder' } }),
    aStation({ shown: null })
  ].map(open)
  const documents = stations.flatMap(station =>
    [80, 89, 90, 91, 109, 110, 111, 500].flatMap(second => [rest(station, second), event(station, second)])
  )
  const bodies = new Map(documents.map(({ etag, body }) => [etag, body.toString()]))
  expect(documents.every(({ etag, body }) => bodies.get(etag) === body.toString())).toBe(true)
  expect(new Set(documents.map(({ body }) => body.toString())).size).toBe(bodies.size)
  expect([...bodies.keys()].every(etag => /^W\/"[\w-]+"$/.test(etag))).toBe(true)
})

test('every server creates the same ETag for the same body', () => {
  const [one, other] = [open(playing), open(structuredClone(playing))]
  expect(rest(one, 95).etag).toBe(rest(other, 95).etag)
  expect(one.line().etag).toBe(other.line().etag)
})

test('a document without a running song is the same for every second', () => {
  const [ended, offline] = [open(playing), open(aStation({ shown: null }))]
  expect(rest(ended, 110)).toBe(rest(ended, 999))
  expect(event(offline, 1)).toBe(event(offline, 2))
  expect(offline.line()).toBe(offline.line())
  expect(rest(open(playing), 95)).not.toBe(rest(open(playing), 96))
})

test('a document rendered as text and as bytes is the same', () => {
  const station = open(playing)
  const text = station.eventText(95)
  expect(event(station, 95).body.toString()).toBe(text)
  expect(event(station, 96).body.toString()).toBe(station.eventText(96))
  expect(event(station, 96).position).toEqual({ epoch: 'e1', offset: 1 })
})

test.each([
  [{ artist: 'Mara Quist', title: 'Tidewater' }, 'Mara Quist - Tidewater'],
  [{ artist: '', title: 'Tidewater' }, 'Tidewater'],
  [{ artist: 'Mara Quist', title: '' }, 'Mara Quist'],
  [{ artist: '', title: '' }, 'Harbour FM']
])('the line of %j is %s', (song, line) => {
  const station = open(aStation({ shown: aPlay({ song: aSong(song) }) }))
  expect(station.line().body.toString()).toBe(line)
})

test('the line of a silent station is its offline text, or its name without one', () => {
  expect(
    open(aStation({ shown: null }))
      .line()
      .body.toString()
  ).toBe('Station Offline')
  const nameless = aStation({ shown: null, profile: { offlineText: '' } })
  expect(open(nameless).line().body.toString()).toBe('Harbour FM')
})

test('the list keeps its body and ETag until one of its stations changes', () => {
  const catalogue = openStationCatalogue(documented)
  catalogue.put(playing)
  catalogue.put(aStation({ stationId: 2, shown: null, profile: { shortName: 'two' } }))
  const before = catalogue.publicList(200)
  expect(catalogue.publicList(201)).toBe(before)
  expect(catalogue.publicList(100)?.etag).not.toBe(before?.etag)
  catalogue.put(afterSong(playing))
  expect(catalogue.publicList(201)?.etag).not.toBe(before?.etag)
  catalogue.remove(2)
  const alone = catalogue.publicList(201)
  expect(JSON.parse(String(alone?.body))).toHaveLength(1)
  expect(catalogue.list(catalogue.all(), 201).etag).toBe(alone?.etag)
})

test('lists of many selections of stations are correct, and the newest ones are cached', () => {
  const catalogue = openStationCatalogue(documented)
  for (let id = 1; id <= 40; id++)
    catalogue.put(aStation({ stationId: id, shown: null, profile: { shortName: `s${id}` } }))
  const all = catalogue.all()
  for (let count = 0; count <= 40; count++) {
    const list = catalogue.list(all.slice(0, count), 1)
    expect(JSON.parse(list.body.toString())).toHaveLength(count)
    expect(catalogue.list(all.slice(0, count), 2)).toBe(list)
  }
})

test('an element of a list is the document, whether it is kept or not', () => {
  const station = open(playing)
  const { text, etag } = station.restElement(95, { isKept: false, renderer: documented })
  expect(text).toBe(rest(station, 95).body.toString())
  expect(etag).toBe(rest(station, 95).etag)
  expect(station.restElement(96, { isKept: true, renderer: documented }).text).toBe(
    rest(station, 96).body.toString()
  )
})

test('documents of all renderers are cached, until the station is compressed', () => {
  const station = LiveStation.of(playing, azuracast)
  const own = station.document('rest', 95, azuracast)
  expect(JSON.parse(station.eventText(95)).station).toHaveProperty('requests_enabled', false)
  const other = station.document('rest', 95, documented)
  expect(other.body).toEqual(rest(open(playing), 95).body)
  expect(other.etag).not.toBe(own.etag)
  expect(station.document('rest', 95, documented)).toBe(other)
  expect(station.document('rest', 95, azuracast)).toBe(own)
  expect(station.restElement(95, { isKept: true, renderer: documented }).text).toBe(other.body.toString())
  station.compress()
  expect(station.document('rest', 95, documented)).not.toBe(other)
  expect(station.document('rest', 95, documented)).toEqual(other)
  const counted = station.withCounts({ offset: 2, listeners: { ...playing.listeners, total: 4 } })
  expect(JSON.parse(counted.eventText(95)).station).toHaveProperty('requests_enabled')
})
