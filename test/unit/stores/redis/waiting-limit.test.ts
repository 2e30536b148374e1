import { EventEmitter } from 'node:events'

import { Command } from 'ioredis'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { limitCommandTime } from '../../../../src/stores/redis/client-corrections.ts'

/** A cluster client that queues every command and never completes one. */
function aSilentCluster() {
  const kept: string[] = []
  const sendCommand = (command: Command) => {
    kept.push(command.name)
    return command.promise
  }
  const cluster = Object.assign(new EventEmitter(), { sendCommand })
  limitCommandTime(cluster, 5_000)
  return { cluster, kept }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a command without a response times out', async () => {
  const { cluster, kept } = aSilentCluster()
  const response = cluster.sendCommand(new Command('get')).catch(String)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(await response).toBe('Error: Command timed out')
  expect(kept).toEqual(['get'])
})

test('commands fail at once after the cluster was unreachable for the timeout, until it is back', async () => {
  const { cluster, kept } = aSilentCluster()
  const get = () => cluster.sendCommand(new Command('get')).catch(String)
  cluster.emit('close')
  await vi.advanceTimersByTimeAsync(3_000)
  const early = get()
  // Every failed attempt to connect emits `close` again.
  cluster.emit('close')
  await vi.advanceTimersByTimeAsync(2_001)
  expect(await get()).toBe('Error: Connection is closed.')
  await vi.advanceTimersByTimeAsync(5_000)
  expect(await early).toBe('Error: Command timed out')
  void cluster.sendCommand(new Command('cluster')).catch(() => {})
  expect(kept).toEqual(['get', 'cluster'])
  cluster.emit('ready')
  void get()
  expect(kept).toEqual(['get', 'cluster', 'get'])
})
