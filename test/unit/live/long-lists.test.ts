import { expect, test } from 'vitest'

import type { LiveStation } from '../../../src/live/feed/live-station.ts'
import { openLongLists } from '../../../src/live/feed/long-lists.ts'
import { type StationCatalogue, openStationCatalogue } from '../../../src/live/feed/station-catalogue.ts'
import type { LongList } from '../../../src/model/station/live-view.ts'
import { afterSong, aStation, documented } from '../../support/builders.ts'
import { waitFor } from '../../support/wait.ts'

const none: ReadonlySet<number> = new Set()
const ignore = () => {}

/**
 * A catalogue of silent stations, whose documents are the same in every second; every tenth one is private.
 */
function openStations(count: number) {
  const catalogue = openStationCatalogue(documented)
  for (let id = count; id >= 1; id--)
    catalogue.put(
      aStation({ stationId: id, shown: null, profile: { shortName: `s${id}`, isPublic: id % 10 !== 0 } })
    )
  return catalogue
}

function stationOf(catalogue: StationCatalogue, stationId: number): LiveStation {
  const station = catalogue.get(stationId)
  if (station === undefined) throw new Error(`no station ${stationId}`)
  return station
}

/** Reads a list piece by piece. */
async function readPieces({ size, read }: LongList): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = []
  for (let offset = 0; offset < size; offset += pieces.at(-1)?.length ?? size) pieces.push(await read(offset))
  return pieces
}

async function idsOf(list: LongList): Promise<number[]> {
  const documents: { station: { id: number } }[] = JSON.parse(
    Buffer.concat(await readPieces(list)).toString()
  )
  return documents.map(({ station }) => station.id)
}

test('a long list has the bytes and the entity tag of the list that is rendered at once', async () => {
  const catalogue = openStations(1_000)
  const atOnce = catalogue.publicList(1)
  const list = await catalogue.longLists.take(none, ignore)
  expect(list.etag).toBe(atOnce?.etag)
  const pieces = await readPieces(list)
  expect(Buffer.concat(pieces).equals(atOnce?.body ?? Buffer.alloc(0))).toBe(true)
  expect(list.size).toBe(atOnce?.body.length)
  expect(pieces.length).toBeGreaterThan(5)
  expect(await list.read(list.size)).toHaveLength(0)
  const middle = Math.floor(list.size / 2)
  const rest = await list.read(middle)
  expect(rest).toEqual(atOnce?.body.subarray(middle, middle + rest.length))
})

test('more than 1,000 stations are not rendered at once, and remain in id order', async () => {
  const catalogue = openStations(1_001)
  expect(catalogue.publicList(1)).toBeNull()
  catalogue.remove(2)
  catalogue.put(aStation({ stationId: 2_000, shown: null, profile: { shortName: 'last' } }))
  const ids = await idsOf(await catalogue.longLists.take(new Set([10]), ignore))
  expect(ids).toEqual(ids.toSorted((a, b) => a - b))
  expect(ids.slice(0, 3)).toEqual([1, 3, 4])
  expect(ids).toContain(10)
  expect(ids).not.toContain(20)
  expect(ids.at(-1)).toBe(2_000)
})

test('requests that wait for a build share it, and later ones get newer states', async () => {
  const catalogue = openStations(1_001)
  const [one, same] = await Promise.all([
    catalogue.longLists.take(none, ignore),
    catalogue.longLists.take(none, ignore)
  ])
  expect(same.read).toBe(one.read)
  const { state } = stationOf(catalogue, 1)
  catalogue.put(afterSong(state))
  const newer = await catalogue.longLists.take(none, ignore)
  expect(newer.etag).not.toBe(one.etag)
})

test('lists that are being sent are evicted only when they are old and memory is needed', async () => {
  const { all } = openStations(1_001)
  const evicted: number[] = []
  const lists = openLongLists(all, documented, { maxBytes: 1, evictableAfterMs: 200 })
  const first = await lists.take(none, () => evicted.push(1))
  const second = await lists.take(none, () => evicted.push(2))
  expect(second.read).toBe(first.read)
  await expect(lists.take(new Set([10]), ignore)).rejects.toThrow(/Too many lists/)
  const startedMs = performance.now()
  await waitFor(async () => (await lists.take(none, ignore)).read !== first.read, {
    deadlineMs: 5_000,
    what: 'a new list'
  })
  expect(performance.now() - startedMs).toBeGreaterThan(100)
  expect(evicted).toEqual([1, 2])
})

test('lists with room are built anew, and released lists need no memory', async () => {
  const evicted: number[] = []
  const lists = openLongLists(openStations(1_001).all, documented, { evictableAfterMs: 0 })
  const reads = new Set<unknown>()
  for (let request = 1; request <= 4; request++)
    reads.add((await lists.take(none, () => evicted.push(request))).read)
  expect(reads.size).toBe(4)
  expect(evicted).toEqual([])
  const small = openLongLists(openStations(1_001).all, documented, { maxBytes: 1 })
  const etags: string[] = []
  for (let request = 1; request <= 3; request++) {
    const list = await small.take(new Set([request * 10]), ignore)
    etags.push(list.etag)
    list.release()
  }
  expect(new Set(etags).size).toBe(3)
})

test('a compressed station has the same state and documents', () => {
  const catalogue = openStationCatalogue(documented)
  const profile = { name: '\u0420\u0430\u0434\u0438\u043e \u{1f4fb}', offlineText: '\0\u00ff' }
  catalogue.put(aStation({ stationId: 1, shown: null, profile }))
  const station = stationOf(catalogue, 1)
  const { state } = station
  const { etag } = station.document('rest', 1, documented)
  station.compress()
  expect(station.document('rest', 1, documented).etag).toBe(etag)
  expect(station.read()).toEqual(state)
  station.compressUnlessUsed()
  expect(station.state).toBe(station.state)
  expect(station.state).toEqual(state)
})

test('counts that arrive before and after a station is compressed are those of its state', () => {
  const catalogue = openStations(1)
  const countsOf = (total: number) => ({ total, unique: 1, mounts: {}, remotes: {}, hls: total })
  catalogue.putCounts(stationOf(catalogue, 1), { offset: 7, listeners: countsOf(7) })
  const counted = stationOf(catalogue, 1)
  counted.compress()
  expect(counted.read()).toMatchObject({ offset: 7, listeners: countsOf(7) })
  catalogue.putCounts(counted, { offset: 8, listeners: countsOf(8) })
  expect(stationOf(catalogue, 1).read()).toMatchObject({ offset: 8, listeners: countsOf(8) })
  stationOf(catalogue, 1).compress()
  expect(stationOf(catalogue, 1).state).toMatchObject({ offset: 8, listeners: countsOf(8) })
})
