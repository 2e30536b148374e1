import { expect, test } from 'vitest'

import { openArchiveLimit } from '../../../../src/platform/runtime/tar-files.ts'

test('an archive may expand to 1 GiB, or to 200 times its size', () => {
  const small = openArchiveLimit(1_000)
  small.addBytes(2 ** 30)
  expect(() => small.addBytes(1)).toThrow('it expands to more than 200 times its size')
  const large = openArchiveLimit(2 ** 30)
  large.addBytes(200 * 2 ** 30)
  expect(() => large.addBytes(1)).toThrow('it expands to more than 200 times its size')
})

test('an archive has at most five million files, with names of at most 4,096 bytes', () => {
  const limit = openArchiveLimit(1_000)
  for (let entry = 0; entry < 5_000_000; entry++) limit.addEntry('a')
  expect(() => limit.addEntry('a')).toThrow('more than 5000000 files')
  expect(() => openArchiveLimit(1_000).addEntry('ü'.repeat(2_049))).toThrow('a name of more than 4,096 bytes')
})
