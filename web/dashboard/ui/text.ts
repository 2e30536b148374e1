const whole = new Intl.NumberFormat()

/** `1 listener`, `1,204 listeners` */
export function counted(count: number, unit: string, units = `${unit}s`): string {
  return `${whole.format(count)} ${count === 1 ? unit : units}`
}

export const number = (count: number): string => whole.format(count)

const spans = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60]
] as const

/** How long something lasts, in its largest unit: `3 hours`. */
export function durationText(seconds: number): string {
  const [unit, size] = spans.find(([, each]) => seconds >= each) ?? (['second', 1] as const)
  return counted(Math.max(0, Math.floor(seconds / size)), unit)
}

/** `2 minutes ago`, by the clock of this machine. */
export function agoText(seconds: number): string {
  const passed = Date.now() / 1_000 - seconds
  return passed < 10 ? 'just now' : `${durationText(passed)} ago`
}
