import { configureGlobal } from 'fast-check'

import { sized } from './tier.ts'

/** How many examples a property looks at that does not say so itself. */
configureGlobal({ numRuns: sized({ quick: 50, deep: 200, soak: 1_000 }) })
