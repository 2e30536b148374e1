import { readdirSync } from 'node:fs'

import { measureProcess } from '../../src/platform/metrics/process.ts'
import { registry } from '../../src/platform/metrics/registry.ts'

const folder = new URL('../../src/platform/metrics/', import.meta.url)

let areDeclared = false

/** Returns all metrics that the program declares, and those of the process. */
export async function readAllMetrics() {
  for (const name of readdirSync(folder)) await import(new URL(name, folder).href)
  if (!areDeclared) measureProcess('test')
  areDeclared = true
  return registry.getMetricsAsJSON()
}
