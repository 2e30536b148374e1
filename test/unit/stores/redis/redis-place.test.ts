import { expect, test } from 'vitest'

import { splitRedisUrls } from '../../../../src/stores/redis/redis-place.ts'

test.for([
  ['redis://one', ['redis://one']],
  [' redis://one:1 , redis://two:2,redis://three', ['redis://one:1', 'redis://two:2', 'redis://three']],
  ['redis://:a,b@one,redis://:a,b@two', ['redis://:a,b@one', 'redis://:a,b@two']],
  ['rediss://one,redis://two', ['rediss://one', 'redis://two']]
] as const)('the URLs in %s are separated', ([text, urls]) => {
  expect(splitRedisUrls(text)).toEqual(urls)
})
