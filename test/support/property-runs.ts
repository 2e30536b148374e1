import { configureGlobal } from 'fast-check'

import { sized } from './tier.ts'

/** The default number of runs of a property. */
configureGlobal({ numRuns: sized({ quick: 50, deep: 200, soak: 1_000 }) })
