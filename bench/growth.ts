import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

import { renderChart } from './chart.ts'
import { median } from './statistics.ts'

/** What was measured at a size, such as a number of stations, in each run. */
export interface GrowthPoint {
  readonly name: string
  readonly size: number
  readonly values: readonly number[]
}

/**
 * Draws the medians by size as `plots/{file}.svg`, if there are several sizes. `of` names what is counted by the sizes.
 */
export async function drawGrowth(
  file: string,
  labels: { readonly title: string; readonly unit: string; readonly of?: string },
  points: readonly GrowthPoint[]
): Promise<void> {
  const ticks = [...new Set(points.map(({ size }) => size))]
  if (ticks.length < 2) return
  const names = [...new Set(points.map(({ name }) => name))]
  const series = names.map((name, group) => ({
    name,
    group,
    values: ticks.map(tick =>
      median(points.find(each => each.name === name && each.size === tick)?.values ?? [])
    )
  }))
  const folder = new URL('plots/', import.meta.url)
  await mkdir(folder, { recursive: true })
  const { title, unit, of = 'stations' } = labels
  const chart = { title, x: { label: of, ticks }, y: { label: unit, isLogarithmic: false }, series }
  await writeFile(fileURLToPath(new URL(`${file}.svg`, folder)), renderChart(chart))
}
