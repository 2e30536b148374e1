/** The value that `share` (0 to 1) of the sorted values do not exceed; NaN of nothing. */
export function quantile(ordered: readonly number[], share: number): number {
  return ordered[Math.max(0, Math.ceil(share * ordered.length) - 1)] ?? Number.NaN
}

export function sorted(values: readonly number[]): number[] {
  return values.toSorted((a, b) => a - b)
}

export function median(values: readonly number[]): number {
  return quantile(sorted(values), 0.5)
}

/** `median (least to most)` of several runs. */
export function spread(values: readonly number[], digits = 0): string {
  const show = (value: number) => value.toLocaleString('en-GB', decimals(digits))
  const known = sorted(values.filter(Number.isFinite))
  if (known.length === 0) return '-'
  return `${show(quantile(known, 0.5))} (${show(quantile(known, 0))} to ${show(quantile(known, 1))})`
}

/**
 * How many times the second value the first one is, in each run, as `spread`: values of one run belong
 * together.
 */
export function ratio(values: readonly number[], others: readonly number[]): string {
  return spread(
    values.map((value, run) => value / (others[run] ?? Number.NaN)),
    2
  )
}

export function number(value: number, digits = 0): string {
  return Number.isFinite(value) ? value.toLocaleString('en-GB', decimals(digits)) : '-'
}

const decimals = (digits: number) => ({ minimumFractionDigits: digits, maximumFractionDigits: digits })
