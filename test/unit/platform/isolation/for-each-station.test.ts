import * as fc from 'fast-check'
import { pino } from 'pino'
import { expect, test } from 'vitest'

import { forEachStation, forStationsTogether } from '../../../../src/platform/isolation/for-each-station.ts'
import { openStationFaults } from '../../../../src/platform/isolation/station-faults.ts'
import { ApiError } from '../../../../src/platform/runtime/errors.ts'

const open = () => ({ stationFaults: openStationFaults(pino({ level: 'silent' })) })
const unreachable = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })

const stationIds = fc.uniqueArray(fc.integer({ min: 1, max: 300 }), { maxLength: 60 })

test('the stations for which the work throws, and only these, are noted and left out', async () => {
  await fc.assert(
    fc.asyncProperty(
      stationIds,
      fc.integer({ min: 2, max: 9 }),
      fc.integer({ min: 1, max: 5 }),
      async (ids, part, concurrency) => {
        const isolation = open()
        const isBroken = (id: number) => id % part === 0
        const done: number[] = []
        const work = async ({ stationId }: { stationId: number }) => {
          if (isBroken(stationId)) throw new Error('broken')
          done.push(stationId)
        }
        const items = ids.map(stationId => ({ stationId }))
        const count = await forEachStation(isolation, 'songs', items, work, { concurrency })
        expect(done).toEqual(ids.filter(id => !isBroken(id)))
        expect(count).toBe(done.length)
        expect(isolation.stationFaults.failingIds('songs')).toEqual(ids.filter(isBroken))
      }
    )
  )
})

test('work with groups succeeds for every station that does not fail by itself', async () => {
  await fc.assert(
    fc.asyncProperty(stationIds, fc.integer({ min: 2, max: 9 }), async (ids, part) => {
      const isolation = open()
      const isBroken = (id: number) => id % part === 0
      const work = async (group: readonly number[]) => {
        if (group.some(isBroken)) throw new Error('broken')
        return group
      }
      const results = (await forStationsTogether(isolation, 'counts', ids, work)).flat()
      expect(results).toEqual(ids.filter(id => !isBroken(id)))
      expect(isolation.stationFaults.failingIds('counts')).toEqual(ids.filter(isBroken))
      // The second time, those that failed do not split the groups of the others.
      let groups = 0
      const again = await forStationsTogether(isolation, 'counts', ids, group => {
        groups++
        return work(group)
      })
      expect(again.flat()).toEqual(results)
      expect(groups).toBe((results.length > 0 ? 1 : 0) + ids.filter(isBroken).length)
    })
  )
})

test('a store that is away ends the loop, and is no fault of a station', async () => {
  const isolation = open()
  const tried: number[] = []
  const work = async ({ stationId }: { stationId: number }) => {
    tried.push(stationId)
    if (stationId === 2) throw unreachable
  }
  const items = [1, 2, 3].map(stationId => ({ stationId }))
  await expect(forEachStation(isolation, 'songs', items, work, { concurrency: 1 })).rejects.toBe(unreachable)
  expect(tried).toEqual([1, 2])
  await expect(
    forStationsTogether(isolation, 'songs', [1, 2], () => Promise.reject(unreachable))
  ).rejects.toBe(unreachable)
  expect(isolation.stationFaults.failingIds('songs')).toEqual([])
})

test('a station that was deleted meanwhile does not fail', async () => {
  const isolation = open()
  const work = () => Promise.reject(new ApiError('not-found'))
  expect(await forEachStation(isolation, 'songs', [{ stationId: 1 }], work)).toBe(0)
  expect(isolation.stationFaults.failingIds('songs')).toEqual([])
})

test('a loop that is aborted rejects with the reason', async () => {
  const isolation = open()
  const stopping = new AbortController()
  const work = async () => {
    stopping.abort(new Error('stopped'))
    throw new Error('interrupted')
  }
  const items = [{ stationId: 1 }, { stationId: 2 }]
  const { signal } = stopping
  await expect(forEachStation(isolation, 'songs', items, work, { concurrency: 1, signal })).rejects.toThrow(
    'interrupted'
  )
  expect(isolation.stationFaults.failingIds('songs')).toEqual([])
})
