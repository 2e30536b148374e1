import type { Settings } from './hook-type.ts'
import { hookTypes } from './hook-types.ts'

/** Every type with its settings, in words for the documentation of the API. */
export function describeSettings(): string {
  const types = hookTypes
    .filter(({ isRetired }) => !isRetired)
    .map(({ name, settings }) => `${name}: ${Object.entries(settings).map(describeSetting).join(', ')}`)
  return `By type (* required, in brackets the default): ${types.join('; ')}.`
}

function describeSetting([key, { fallback, kind }]: [string, Settings[string]]): string {
  const asterisk = fallback === undefined ? '*' : ''
  const secrecy = kind === 'secret' ? ' (write-only)' : ''
  const preset = fallback === undefined || fallback === '' ? '' : ` [${String(fallback)}]`
  return key + asterisk + secrecy + preset
}
