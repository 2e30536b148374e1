import { expect, test } from 'vitest'

import { openStationCatalogue } from '../../../src/live/feed/station-catalogue.ts'
import { afterSong, aPlay, aStation, documented } from '../../support/builders.ts'

const named = (stationId: number, shortName: string, offset: number) =>
  aStation({ stationId, offset, profile: { shortName } })

const playing = (stationId: number, isPublic = true) =>
  aStation({
    stationId,
    shown: aPlay({ startedAtMs: 90_000 }),
    profile: { shortName: `s${stationId}`, isPublic }
  })

test('a station is found by its id and by its short name', () => {
  const catalogue = openStationCatalogue(documented)
  catalogue.put(aStation({ stationId: 7, profile: { shortName: 'seven' } }))
  expect(catalogue.find('7')).toBe(catalogue.get(7))
  expect(catalogue.find('seven')).toBe(catalogue.get(7))
})

test('a station is found by its former name until it is deleted', () => {
  const removed: string[] = []
  const catalogue = openStationCatalogue(documented, { onRemoved: name => removed.push(name) })
  catalogue.put(named(7, 'radio', 1))
  catalogue.setFormerName(7, 'радио')
  const station = catalogue.get(7)
  expect(catalogue.find('радио')).toBe(station)
  expect(station && catalogue.namesOf(station)).toEqual([7, 'radio', 'радио'])
  catalogue.remove(7)
  expect(catalogue.find('радио')).toBeUndefined()
  expect(removed).toEqual(['7', 'radio', 'радио'])
})

test.each(['', '8', '07', '7.0', ' 7', '-7', '99999999999999999999', '__proto__', 'constructor', 'Seven'])(
  'no station is found by "%s"',
  name => {
    const catalogue = openStationCatalogue(documented)
    catalogue.put(aStation({ stationId: 7, profile: { shortName: 'seven' } }))
    expect(catalogue.find(name)).toBeUndefined()
  }
)

test('within an epoch offsets never decrease, and another epoch replaces the state', () => {
  const catalogue = openStationCatalogue(documented)
  const first = aStation({ offset: 5 })
  const second = afterSong(first)
  expect(catalogue.put(second)).toBe(true)
  expect(catalogue.put(first)).toBe(false)
  expect(catalogue.put(second)).toBe(false)
  expect(catalogue.get(1)?.state).toBe(second)
  const rebuilt = aStation({ epoch: 'e2', offset: 1 })
  expect(catalogue.put(rebuilt)).toBe(true)
  expect(catalogue.get(1)?.state).toBe(rebuilt)
})

test('names belong to their stations, also when two of them swap names', () => {
  const catalogue = openStationCatalogue(documented)
  catalogue.put(named(1, 'north', 1))
  catalogue.put(named(2, 'south', 1))
  catalogue.put(named(1, 'south', 2))
  catalogue.put(named(2, 'north', 2))
  expect(catalogue.find('north')?.state.stationId).toBe(2)
  expect(catalogue.find('south')?.state.stationId).toBe(1)
  catalogue.remove(2)
  expect(catalogue.find('north')).toBeUndefined()
  expect(catalogue.all().map(({ state }) => state.stationId)).toEqual([1])
})

test('a name that passes to another station is found, whichever change arrives first', () => {
  const catalogue = openStationCatalogue(documented)
  catalogue.put(named(2, 'north', 1))
  catalogue.put(named(1, 'north', 1))
  catalogue.put(named(1, 'south', 2))
  expect(catalogue.find('north')?.state.stationId).toBe(2)
  catalogue.put(named(3, 'north', 1))
  catalogue.remove(3)
  expect(catalogue.find('north')?.state.stationId).toBe(2)
})

test('the list has the public stations by id, and changes with the time and with their states', () => {
  const catalogue = openStationCatalogue(documented)
  const list = (nowSeconds: number) => JSON.parse(String(catalogue.publicList(nowSeconds)?.body))
  expect(list(100)).toEqual([])
  for (const state of [playing(10), playing(2), playing(3, false)]) catalogue.put(state)
  expect(list(100)).toMatchObject([
    { station: { id: 2 }, now_playing: { elapsed: 10 } },
    { station: { id: 10 }, now_playing: { elapsed: 10 } }
  ])
  expect(list(101)).toMatchObject([{ now_playing: { elapsed: 11 } }, { now_playing: { elapsed: 11 } }])
  catalogue.put(afterSong(playing(2), { title: 'Night Ferry' }))
  expect(list(101)[0]).toMatchObject({ now_playing: { song: { title: 'Night Ferry' } } })
  expect(catalogue.publicList(101)).toBe(catalogue.publicList(101))
})

test('both representations are correct for the requested second, and rendered once per second', () => {
  const catalogue = openStationCatalogue(documented)
  catalogue.put(aStation({ shown: aPlay({ startedAtMs: 90_000, durationMs: 20_000 }) }))
  const station = catalogue.get(1)
  const rest = (nowSeconds: number) => station?.document('rest', nowSeconds, documented)
  const at = (nowSeconds: number) => JSON.parse(String(rest(nowSeconds)?.body)).now_playing
  expect(at(95)).toMatchObject({ elapsed: 5, remaining: 15 })
  expect(at(300)).toMatchObject({ elapsed: 20, remaining: 0 })
  expect(at(80)).toMatchObject({ elapsed: 0, remaining: 20 })
  expect(JSON.parse(station?.eventText(96) ?? '')).toMatchObject({
    cache: 'event',
    now_playing: { elapsed: 6 }
  })
  expect(rest(96)).toBe(rest(96))
})
