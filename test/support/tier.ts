/**
 * The scope of a test run, by the environment variable TEST_TIER: `quick` for every change (`npm test`),
 * `deep` for long tests (`npm run test:deep`), `soak` for tests that take hours (`npm run test:soak`).
 */
export type Tier = 'quick' | 'deep' | 'soak'

const tiers: readonly string[] = ['quick', 'deep', 'soak'] satisfies Tier[]

/** The tier of this test run. */
export const tier = parseTier(process.env['TEST_TIER'] ?? 'quick')

/** False in the quick tier: for `test.runIf`, if a test has no useful short form. */
export const isDeep = tier !== 'quick'

/**
 * The size of a test in this tier: runs of a property, clients of a crowd, seconds of a fault. `soak` is the
 * value of `deep` by default.
 */
export function sized<T>(sizes: { readonly quick: T; readonly deep: T; readonly soak?: T }): T {
  return sizes[tier] ?? sizes.deep
}

function parseTier(text: string): Tier {
  if (isTier(text)) return text
  throw new Error(`TEST_TIER must be quick, deep or soak (got "${text}")`)
}

function isTier(text: string): text is Tier {
  return tiers.includes(text)
}
