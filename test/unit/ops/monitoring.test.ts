import { readFileSync } from 'node:fs'

import { expect, test } from 'vitest'

import { openChildMetrics } from '../../../src/platform/metrics/child-metrics.ts'
import { readAllMetrics } from '../../support/metrics.ts'
import { readAlerts, readDashboards } from '../../support/operations.ts'

/** The metrics that a query names, without the suffixes of histograms. */
const metricsIn = (expr: string) =>
  [...expr.matchAll(/\b(?:cuewire|process|nodejs)_\w+(?=[{[)]| [<>=/])/g)].map(([name]) => name)

test('dashboards and alerts name metrics that exist', async () => {
  const known = new Set(
    (await readAllMetrics()).flatMap(({ name, type }) =>
      String(type) === 'histogram' ? ['bucket', 'count', 'sum'].map(part => `${name}_${part}`) : [name]
    )
  )
  for (const [, name = ''] of (await openChildMetrics().collect()).matchAll(/^# TYPE (\w+)/gm))
    known.add(name)
  const queries = readDashboards().flatMap(({ panels }) => panels.flatMap(({ targets }) => targets))
  const exprs = [...queries, ...readAlerts()].map(({ expr }) => expr)
  const named = exprs.flatMap(metricsIn)
  expect(named.length).toBeGreaterThan(exprs.length - 3)
  expect(named.filter(name => !known.has(name))).toEqual([])
})

test('each alert has one line in docs/monitoring.md, and each line an alert', () => {
  const page = readFileSync(new URL('../../../docs/monitoring.md', import.meta.url), 'utf8')
  const documented = [...page.matchAll(/^\| `(Cuewire\w+)` \|/gm)].map(([, name]) => name)
  expect(documented).toEqual(readAlerts().map(({ alert }) => alert))
})

test('panels have different places and ids', () => {
  for (const file of ['overview', 'push', 'engine', 'hooks']) {
    const { panels }: { panels: { id: number; gridPos: { x: number; y: number; w: number; h: number } }[] } =
      JSON.parse(readFileSync(new URL(`../../../ops/grafana/${file}.json`, import.meta.url), 'utf8'))
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    expect(new Set(panels.map(({ gridPos }) => `${gridPos.x} ${gridPos.y}`)).size).toBe(panels.length)
    expect(panels.every(({ gridPos }) => gridPos.x + gridPos.w <= 24)).toBe(true)
  }
})
