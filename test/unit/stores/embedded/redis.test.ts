import { expect, test } from 'vitest'

import { parseRedisMajor } from '../../../../src/stores/embedded/redis-binary.ts'
import { renderRedisConfig } from '../../../../src/stores/embedded/redis.ts'

test('the version is parsed from the output of Redis and Valkey', () => {
  expect(parseRedisMajor('Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=0')).toBe(
    7
  )
  expect(parseRedisMajor('Valkey server v=8.1.1 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=0')).toBe(
    8
  )
  expect(parseRedisMajor('something else')).toBeUndefined()
})

test('a folder with spaces and quotes is quoted in the configuration', () => {
  expect(renderRedisConfig('/my "radio"', 6400, 'secret')).toContain('dir "/my \\"radio\\""\n')
})
