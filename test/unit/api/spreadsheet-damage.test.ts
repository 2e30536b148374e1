import { expect, test } from 'vitest'

import { findSpreadsheetDamage } from '../../../src/api/library/table/spreadsheet-damage.ts'

test.for([
  ['Summer', '1.23457E+16'],
  ['', '4.00638E+12'],
  ['\u6771\u4eac', '??'],
  ['Dvořák', 'Dvo?ák'],
  ['Dvořák', 'Dvo??k'],
  ['Dvořák', 'Dvo\uFFFDák']
] as const)('%s that became %s is refused', ([current, cell]) => {
  expect(findSpreadsheetDamage(current, cell)).toMatch(
    /format the column as text, and enter|save the file as/
  )
})

test.for([
  ['Dvořák', 'Dvorák'],
  ['Łódź', 'Lodz'],
  ['Why', 'Wh?'],
  ['a', '']
] as const)('%s may be changed to %s', ([current, cell]) => {
  expect(findSpreadsheetDamage(current, cell)).toBeNull()
})
