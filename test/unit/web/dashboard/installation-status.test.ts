import { expect, test } from 'vitest'

import { lateText, installationProblems } from '../../../../web/dashboard/installation/installation-status.ts'
import { isolated } from '../../../../web/dashboard/ui/light-element.ts'
import { parseRoute } from '../../../../web/dashboard/ui/route.ts'

const health = { live_state: 'current', postgres: 'up', redis: 'up' }
const queue = { name: 'advance', workers: 1, waiting: 0, delayed: 3, overdue: 0, late_ms: 0 }
const standing = { health, queues: [queue], silence: '' }

test('nothing is said while everything is well, or not known', () => {
  expect(installationProblems(standing)).toEqual([])
  expect(installationProblems({ health: null, queues: [], silence: '' })).toEqual([])
  expect(
    installationProblems({ ...standing, queues: [{ ...queue, name: 'of tomorrow', workers: 0 }] })
  ).toEqual([])
})

test('what is wrong is said once, by its cause', () => {
  expect(
    installationProblems({ ...standing, health: { ...health, redis: 'down', live_state: 'stale' } })
  ).toEqual(['Redis does not answer: what is shown may be old.'])
  expect(
    installationProblems({ ...standing, health: { ...health, redis: 'read-only', live_state: 'stale' } })
  ).toEqual(['Redis takes no writes: what is shown may be old.'])
  expect(installationProblems({ ...standing, health: { ...health, live_state: 'stale' } })).toEqual([
    'The server hears nothing of the stations: what is shown may be old.'
  ])
  expect(installationProblems({ ...standing, health: { ...health, postgres: 'down' } })).toHaveLength(1)
  expect(
    installationProblems({
      ...standing,
      health: { ...health, redis: 'down' },
      silence: 'The server cannot be reached.'
    })
  ).toEqual(['The server cannot be reached. What is shown may be old.'])
})

test('workers that are late or not there are told', () => {
  const late = { ...queue, overdue: 2, late_ms: 11_200 }
  expect(
    installationProblems({ ...standing, queues: [late, { ...queue, name: 'deliver', workers: 0 }] })
  ).toEqual([
    'Workers are late by 12 s: songs do not end in time.',
    'No worker is there: web hooks are not told.'
  ])
  expect([1, 119_000, 200_000].map(lateText)).toEqual(['late by 1 s', 'late by 119 s', 'late by 3 min'])
})

test('an address leads to what it names, or nowhere', () => {
  expect(['', '#', '#/'].map(hash => parseRoute(hash).view)).toEqual(['stations', 'stations', 'stations'])
  expect(parseRoute('#/station/a%2Fb/hooks')).toEqual({ view: 'station', station: 'a/b', section: 'hooks' })
  expect(parseRoute('#/station/demo/')).toEqual({ view: 'station', station: 'demo', section: 'now' })
  const nowhere = ['#/x', '#/station', '#/station/', '#/station/a/x', '#/station/a/now/x', '#/station/%']
  expect(nowhere.map(hash => parseRoute(hash).view)).toEqual(nowhere.map(() => 'none'))
})

test('a name in a sentence does not turn the sentence round, and others are left as they are', () => {
  expect(isolated('Harbour FM 👩‍🚀')).toBe('Harbour FM 👩‍🚀')
  expect(isolated('\u202eMF')).toBe('\u2068\u202eMF\u2069')
  expect(isolated('\u202eM\u2069F')).toBe('\u2068\u202eMF\u2069')
  expect(isolated('راديو')).toBe('\u2068راديو\u2069')
})
