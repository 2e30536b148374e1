/** Returns the quantile of ascending values, such as 0.99 for the p99; NaN if there are no values. */
export function quantile(ascending: readonly number[], fraction: number): number {
  return ascending[Math.max(0, Math.ceil(fraction * ascending.length) - 1)] ?? Number.NaN
}

export function sortAscending(values: readonly number[]): number[] {
  return values.toSorted((a, b) => a - b)
}

export function median(values: readonly number[]): number {
  return quantile(sortAscending(values), 0.5)
}

/** Renders the values of several runs as `median (minimum to maximum)`; '-' if none is finite. */
export function formatSpread(values: readonly number[], digits = 0): string {
  const format = (value: number) => value.toLocaleString('en-GB', decimals(digits))
  const finite = sortAscending(values.filter(Number.isFinite))
  if (finite.length === 0) return '-'
  return `${format(quantile(finite, 0.5))} (${format(quantile(finite, 0))} to ${format(quantile(finite, 1))})`
}

/**
 * Divides the first value of each run by the second value of the same run, and renders the ratios as `median
 * (minimum to maximum)`.
 */
export function formatRatio(values: readonly number[], others: readonly number[]): string {
  return formatSpread(
    values.map((value, run) => value / (others[run] ?? Number.NaN)),
    2
  )
}

export function formatNumber(value: number, digits = 0): string {
  return Number.isFinite(value) ? value.toLocaleString('en-GB', decimals(digits)) : '-'
}

const decimals = (digits: number) => ({ minimumFractionDigits: digits, maximumFractionDigits: digits })
