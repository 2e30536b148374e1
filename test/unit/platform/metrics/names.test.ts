import type { MetricType } from 'prom-client'
import { expect, test } from 'vitest'

import { readAllMetrics } from '../../../support/metrics.ts'

test('names follow the conventions of Prometheus', async () => {
  const metrics = await readAllMetrics()
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
