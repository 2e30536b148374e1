import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

import { renderChart } from './chart.ts'
import { median } from './statistics.ts'

/** What was measured with a number of stations in each run. */
export interface GrowthPoint {
  readonly name: string
  readonly stations: number
  readonly values: readonly number[]
}

/** Draws the medians by number of stations as `plots/{file}.svg`, if there are several numbers. */
export async function drawGrowth(
  file: string,
  labels: { readonly title: string; readonly unit: string },
  points: readonly GrowthPoint[]
): Promise<void> {
  const ticks = [...new Set(points.map(({ stations }) => stations))]
  if (ticks.length < 2) return
  const names = [...new Set(points.map(({ name }) => name))]
  const series = names.map((name, group) => ({
    name,
    group,
    values: ticks.map(tick =>
      median(points.find(each => each.name === name && each.stations === tick)?.values ?? [])
    )
  }))
  const folder = new URL('plots/', import.meta.url)
  await mkdir(folder, { recursive: true })
  const { title, unit } = labels
  const chart = { title, x: { label: 'stations', ticks }, y: { label: unit, isLogarithmic: false }, series }
  await writeFile(fileURLToPath(new URL(`${file}.svg`, folder)), renderChart(chart))
}
