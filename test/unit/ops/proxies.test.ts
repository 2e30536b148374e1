import { describe, expect, test } from 'vitest'

import { whyWithout } from '../../support/foreign-programs.ts'
import { openShippedProxy } from '../../support/shipped-proxies.ts'

describe.for(['nginx', 'caddy'] as const)('the configuration of %s', name => {
  test.skipIf(whyWithout(name) !== null)('is accepted', async () => {
    await using proxy = await openShippedProxy(name)
    await expect(proxy.check()).resolves.toBeUndefined()
  })
})
