const numberFormat = new Intl.NumberFormat()

/** `1,204` */
export const formatNumber = (count: number): string => numberFormat.format(count)

/** `1 listener`, `1,204 listeners` */
export const formatCount = (count: number, singular: string, plural = `${singular}s`): string =>
  `${formatNumber(count)} ${count === 1 ? singular : plural}`

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60]
] as const

/** A duration in its largest unit, rounded down: `3 hours`. */
export function describeDuration(seconds: number): string {
  const [unit, size] = units.find(([, each]) => seconds >= each) ?? (['second', 1] as const)
  return formatCount(Math.max(0, Math.floor(seconds / size)), unit)
}

/** `2 minutes ago`, from Unix seconds and the clock of this machine. */
export function formatAge(seconds: number): string {
  const ageSeconds = Date.now() / 1_000 - seconds
  return ageSeconds < 10 ? 'just now' : `${describeDuration(ageSeconds)} ago`
}

/** Right-to-left letters, and the characters that change the direction of the text after them. */
const bidiPattern = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc]/
const isolatePattern = /[\u2066-\u2069]/g

/** Wraps a name in Unicode isolates, so that it cannot change the direction of the sentence around it. */
export const isolateBidi = (name: string): string =>
  bidiPattern.test(name) ? `\u2068${name.replace(isolatePattern, '')}\u2069` : name
