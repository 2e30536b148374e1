import { collectDefaultMetrics, Gauge } from 'prom-client'

import { fullVersion } from '../process/program-files.ts'
import { metricsRegistry } from './registry.ts'

/* Metrics of the process itself: CPU, memory, garbage collection, delay of the event loop, version. */

/** Gauges of prom-client whose names end in `_total`, which is reserved for counters. */
const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total'
]

/**
 * How often the event loop is checked for delays, which are reported with this interval. The default of 10 ms wakes an
 * idle process a hundred times a second, which took 7 % of the CPU of a server that sends 10,000 frames a second.
 */
const delayIntervalMs = 50

/** Begins to measure the process. `kind` is a label of all its metrics: `server` or `workers`. */
export function registerProcessMetrics(kind: string): void {
  metricsRegistry.setDefaultLabels({ process: kind })
  collectDefaultMetrics({ register: metricsRegistry, eventLoopMonitoringPrecision: delayIntervalMs })
  for (const name of misnamed) metricsRegistry.removeSingleMetric(name)
  const info = new Gauge({
    name: 'cuewire_build_info',
    help: 'Always 1; the labels are the version of Cuewire and of Node.js.',
    labelNames: ['version', 'node'],
    aggregator: 'first',
    registers: [metricsRegistry]
  })
  info.set({ version: fullVersion, node: process.versions.node }, 1)
}
