import { expect, test } from 'vitest'

import {
  parseCpuTimes,
  parseMemory,
  parseNetworkCounters,
  readCpuTimes,
  readMemory
} from '../../../../src/platform/process/machine.ts'

test('the times of CPUs are parsed, without counting guests twice', () => {
  const text = 'cpu  10 1 5 80 2 0 1 1 4 0\ncpu0 6 1 3 40 1 0 1 0 4 0\ncpu1 4 0 2 40 1 0 0 1 0 0\nintr 5\n'
  const { total, cores } = parseCpuTimes(text)
  expect(total).toEqual({ total: 100, idle: 80, ioWait: 2, steal: 1 })
  expect(cores.map(core => core.total)).toEqual([52, 48])
})

test('memory that the kernel frees on demand does not count as used', () => {
  const text = `MemTotal:       1000 kB
MemFree:         200 kB
Buffers:          50 kB
Cached:          300 kB
Shmem:            20 kB
SReclaimable:     30 kB
SwapTotal:       400 kB
SwapFree:        100 kB
HugePages_Total:       0
`
  const kib = 1_024
  expect(parseMemory(text)).toEqual({
    total: 1_000 * kib,
    free: 200 * kib,
    used: 440 * kib,
    buffers: 50 * kib,
    cached: 300 * kib,
    reclaimable: 30 * kib,
    shared: 20 * kib,
    swapTotal: 400 * kib,
    swapFree: 100 * kib
  })
})

test('counters of network interfaces are parsed, without the loopback', () => {
  const text = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:     900       9    0    0    0     0          0         0      900       9    0    0    0     0       0          0
  eth0:    1000      10    1    2    3     4          5         6     2000      20    7    8    9    10      11         12
`
  expect(parseNetworkCounters(text)).toEqual([
    {
      name: 'eth0',
      received: {
        bytes: 1_000,
        packets: 10,
        errs: 1,
        drop: 2,
        fifo: 3,
        frame: 4,
        compressed: 5,
        multicast: 6
      },
      transmitted: {
        bytes: 2_000,
        packets: 20,
        errs: 7,
        drop: 8,
        fifo: 9,
        frame: 10,
        carrier: 11,
        compressed: 12
      }
    }
  ])
})

test('this machine has CPUs and memory', async () => {
  const [{ total, cores }, memory] = await Promise.all([readCpuTimes(), readMemory()])
  expect(cores.length).toBeGreaterThan(0)
  expect(total.total).toBeGreaterThan(total.idle)
  expect(memory.total).toBeGreaterThan(memory.used)
})
