import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { openCountryDatabase, readCountryDatabase } from '../../../src/radio/countries.ts'
import { renderCountryDatabase } from '../../support/mmdb.ts'
import { openTempFolder } from '../../support/temp-folder.ts'

const germany = renderCountryDatabase({ '203.0.113.0/24': 'DE', '198.51.100.0/25': 'BR' })

test('the country of an address is that of its network', async () => {
  await using folder = await openTempFolder()
  const path = join(folder.path, 'countries.mmdb')
  await writeFile(path, germany)
  const { find } = await readCountryDatabase(path)
  const addresses = ['203.0.113.9', '::ffff:203.0.113.9', '198.51.100.127', '198.51.100.128', '2001:db8::1']
  expect([...addresses, 'unknown', ''].map(find)).toEqual(['DE', 'DE', 'BR', '', '', '', ''])
})

test('a missing file is logged once, and read when it is there; a damaged one changes nothing', async () => {
  await using folder = await openTempFolder()
  const path = join(folder.path, 'countries.mmdb')
  const warnings: unknown[] = []
  const countries = await openCountryDatabase(path, {
    info: () => {},
    warn: (fields: object) => warnings.push(fields)
  })
  await countries.update()
  expect(countries.find('203.0.113.9')).toBe('')
  expect(warnings).toEqual([{ path, reason: 'it does not exist' }])
  await writeFile(path, germany)
  await countries.update()
  expect(countries.find('203.0.113.9')).toBe('DE')
  await writeFile(path, 'not a database')
  await countries.update()
  await rm(path)
  await countries.update()
  expect(countries.find('203.0.113.9')).toBe('DE')
  expect(warnings).toHaveLength(3)
  countries.stop()
})

test('a database without countries is refused with its type', async () => {
  await using folder = await openTempFolder()
  const path = join(folder.path, 'asn.mmdb')
  await writeFile(path, renderCountryDatabase({ '203.0.113.0/24': 'DE' }, 'GeoLite2-ASN'))
  await expect(readCountryDatabase(path)).rejects.toThrow('it is a database of the type GeoLite2-ASN')
})
