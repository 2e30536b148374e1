/** The part of the argument of `handleSummary` that tables use. */
export interface Summary {
  readonly metrics: Readonly<
    Record<string, { readonly values: Readonly<Record<string, number>> } | undefined>
  >
}

const percentiles = ['med', 'p(95)', 'p(99)', 'max']

export const trendStats = ['count', ...percentiles]

type Cells = readonly (string | number)[]

/** Cells before and after the percentiles of a table. */
interface OuterCells {
  readonly before: Cells
  readonly after?: Cells
}

/** Renders the percentiles of trends, in milliseconds, as a Markdown table. */
export function renderTrends(
  { metrics }: Summary,
  head: OuterCells,
  rows: readonly (OuterCells & { readonly metric: string })[]
): string {
  const columns = [...head.before, 'p50 ms', 'p95 ms', 'p99 ms', 'max ms', ...(head.after ?? [])]
  return [
    renderRow(columns),
    `|${'---|'.repeat(columns.length)}`,
    ...rows.map(({ metric, before, after = [] }) => {
      const times = percentiles.map(name => metrics[metric]?.values[name]?.toFixed(2) ?? '-')
      return renderRow([...before, ...times, ...after])
    })
  ].join('\n')
}

const renderRow = (cells: Cells) => `| ${cells.join(' | ')} |`

/** Returns the value of a counter, or the number of values of a trend; 0 if there is none. */
export function readCount({ metrics }: Summary, name: string): number {
  return metrics[name]?.values['count'] ?? 0
}
