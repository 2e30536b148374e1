/** What k6 hands to `handleSummary`, as far as tables need it. */
export interface Summary {
  readonly metrics: Readonly<
    Record<string, { readonly values: Readonly<Record<string, number>> } | undefined>
  >
}

export const trendStats = ['count', 'med', 'p(95)', 'p(99)', 'max']

/** A Markdown table of trends in milliseconds: label -> metric. */
export function renderTrends(
  { metrics }: Summary,
  head: string,
  trends: Readonly<Record<string, string>>
): string {
  const rows = Object.entries(trends).map(([label, metric]) => {
    const values = metrics[metric]?.values ?? {}
    const times = ['med', 'p(95)', 'p(99)', 'max'].map(name => values[name]?.toFixed(2) ?? '-')
    return `| ${[label, values['count'] ?? 0, ...times].join(' | ')} |`
  })
  return [
    `| ${head} | count | p50 ms | p95 ms | p99 ms | max ms |`,
    '|---|---|---|---|---|---|',
    ...rows
  ].join('\n')
}

/** How often a counter was raised. */
export function counted({ metrics }: Summary, name: string): number {
  return metrics[name]?.values['count'] ?? 0
}
