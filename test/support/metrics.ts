import { readdirSync } from 'node:fs'

import { registerProcessMetrics } from '../../src/platform/metrics/process.ts'
import { metricsRegistry } from '../../src/platform/metrics/registry.ts'

const folder = new URL('../../src/platform/metrics/', import.meta.url)

let areDeclared = false

/** Returns all metrics that the program declares, and those of the process. */
export async function readAllMetrics() {
  for (const name of readdirSync(folder)) await import(new URL(name, folder).href)
  if (!areDeclared) registerProcessMetrics('test')
  areDeclared = true
  return metricsRegistry.getMetricsAsJSON()
}
