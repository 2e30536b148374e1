/**
 * A text as Liquidsoap reads it, on one line: what it holds never becomes code. Liquidsoap 2.1 puts values in place of `#{...}`
 * even where the `#` is written as an escape, so the two are kept apart.
 */
export function liquidsoapText(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Surrogate}]+/gu, ' ')
  const literals = line.split(/(?<=#)(?=\{)/).map(part => `"${part.replace(/["\\]/g, '\\$&')}"`)
  return literals.length === 1 ? literals.join('') : `(${literals.join(' ^ ')})`
}

/** A number that is at least zero, as Liquidsoap reads it where it wants one with a fraction. */
export function liquidsoapFloat(value: number): string {
  return value.toFixed(3).replace(/0+$/, '')
}
