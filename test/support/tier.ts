/**
 * How much a test run covers, by the environment variable TEST_TIER: `quick` is what a change must not break
 * (`npm test`), `deep` are the long forms (`npm run test:deep`), `soak` takes hours (`npm run test:soak`).
 */
export type Tier = 'quick' | 'deep' | 'soak'

const tiers: readonly string[] = ['quick', 'deep', 'soak'] satisfies Tier[]

/** The tier of this test run. */
export const tier = parseTier(process.env['TEST_TIER'] ?? 'quick')

/** False in the quick tier: for `test.runIf`, where a test has no useful short form. */
export const isDeep = tier !== 'quick'

/**
 * The size of a test in this tier: runs of a property, clients of a crowd, seconds of a fault. `soak` is
 * `deep` unless given.
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
