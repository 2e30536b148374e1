import { lostCharacterSteps } from './library/lost-characters.ts'
import { recomputeDuplicateKeys } from './library/recompute-duplicate-keys.ts'
import type { UpgradeStep } from './upgrade-step.ts'

/** All steps, in their order. Texts come first, because keys derive from them. */
export const upgradeSteps: readonly UpgradeStep[] = [
  ...lostCharacterSteps,
  { name: 'keys of titles and artists', run: recomputeDuplicateKeys }
]
