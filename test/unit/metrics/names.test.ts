import { readdirSync } from 'node:fs'

import type { MetricType } from 'prom-client'
import { expect, test } from 'vitest'

import { measureProcess } from '../../../src/metrics/process.ts'
import { registry } from '../../../src/metrics/registry.ts'

const folder = new URL('../../../src/metrics/', import.meta.url)

test('names follow the conventions of Prometheus', async () => {
  for (const name of readdirSync(folder)) await import(new URL(name, folder).href)
  measureProcess('test')
  const metrics = await registry.getMetricsAsJSON()
  expect(metrics.length).toBeGreaterThan(40)
  const isNamedWell = ({ name, type, help }: { name: string; type: MetricType; help: string }) =>
    /^(cuewire|process|nodejs)(_[a-z0-9]+)+$/.test(name) &&
    name.endsWith('_total') === (String(type) === 'counter') &&
    !/_(ms|milliseconds|minutes|kb|mb|kilobytes|megabytes|percent|counter|gauge|histogram)(_|$)/.test(name) &&
    (String(type) !== 'histogram' || name.endsWith('_seconds')) &&
    !/_(bucket|count|sum|info_total)$/.test(name) &&
    help !== ''
  expect(metrics.filter(metric => !isNamedWell(metric)).map(({ name }) => name)).toEqual([])
})
