import { arrayOf, exactObject, string } from '../core/schemas.ts'

/** The format of charts that clients of AzuraCast draw: labels, values, and the same values as sentences. */
const number = { type: 'number' }
export const chartAlternativeSchema = exactObject({
  label: string,
  values: arrayOf({
    type: 'object',
    properties: { label: string, type: string, original: number, value: string },
    required: ['label', 'type', 'value']
  })
})

export const chartSchema = exactObject({
  labels: arrayOf(string),
  datasets: arrayOf(exactObject({ label: string, data: arrayOf(number) })),
  alt: arrayOf(chartAlternativeSchema)
})

/** A value of a chart and its label. */
export type ChartRow = readonly [label: string, value: number]

/** Renders the values as sentences, for people who do not see the chart. */
export const renderChartAlternative = (label: string, unit: string, rows: readonly ChartRow[]) => ({
  label,
  values: rows.map(([name, value]) => ({ label: name, type: 'string', value: `${value} ${unit}` }))
})

/** Renders a chart of the greatest values first. */
export function renderChart(unit: string, rows: readonly ChartRow[], limit = Infinity) {
  const shown = rows.toSorted(([, a], [, b]) => b - a).slice(0, limit)
  return {
    labels: shown.map(([label]) => label),
    datasets: [{ label: unit, data: shown.map(([, value]) => value) }],
    alt: [renderChartAlternative(unit, unit, shown)]
  }
}
