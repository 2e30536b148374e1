import { expect, test } from 'vitest'

import {
  describeInstallationProblems,
  formatLateness,
  type InstallationHealth
} from '../../../../web/dashboard/installation/installation-status.ts'

const health: InstallationHealth = { live_state: 'current', postgres: 'up', redis: 'up' }
const queue = { name: 'advance', workers: 1, waiting: 0, delayed: 3, overdue: 0, late_ms: 0 }
const status = { health, queues: [queue], healthError: '' }

test('there is no problem while everything works or is unknown', () => {
  expect(describeInstallationProblems(status)).toEqual([])
  expect(describeInstallationProblems({ health: null, queues: [], healthError: '' })).toEqual([])
  expect(
    describeInstallationProblems({ ...status, queues: [{ ...queue, name: 'unknown', workers: 0 }] })
  ).toEqual([])
})

test('a problem is described once, by its cause', () => {
  const describe = (parts: Partial<InstallationHealth>, healthError = '') =>
    describeInstallationProblems({ ...status, health: { ...health, ...parts }, healthError })
  const outdated = 'The information shown may be out of date.'
  expect(describe({ redis: 'down', live_state: 'stale' })).toEqual([`Redis is not responding. ${outdated}`])
  expect(describe({ redis: 'read-only', live_state: 'stale' })).toEqual([`Redis is read-only. ${outdated}`])
  expect(describe({ live_state: 'stale' })).toEqual([
    `The server receives no updates of the stations. ${outdated}`
  ])
  expect(describe({ postgres: 'down' })).toHaveLength(1)
  expect(describe({ redis: 'down' }, 'The server cannot be reached.')).toEqual([
    `The server cannot be reached. ${outdated}`
  ])
})

test('late and missing workers are problems', () => {
  const late = { ...queue, overdue: 2, late_ms: 11_200 }
  expect(
    describeInstallationProblems({ ...status, queues: [late, { ...queue, name: 'deliver', workers: 0 }] })
  ).toEqual([
    'Workers are 12 s behind: songs change late.',
    'No worker is running: web hooks are not delivered.'
  ])
  expect([1, 119_000, 200_000].map(formatLateness)).toEqual(['1 s behind', '119 s behind', '3 min behind'])
})
