import { expect, test } from 'vitest'

import { findDamage } from '../../../src/api/library/table/spreadsheet-damage.ts'

test.for([
  ['007', '7'],
  ['+44', '44'],
  ['1.5', '1,5'],
  ['12345678901234567', '12345678901234500'],
  ['12345678901234567', '1.23457E+16'],
  ['7/11', '11. Jul'],
  ['7/11', '7-Nov'],
  ['7/11', '07.11.2026'],
  ['7/11', '01/07/2011'],
  ['May 99', '01.05.1999'],
  ['May 99', 'Mai 99'],
  ['2019-05-01', '01.05.2019'],
  ['2019-05-01', '5/1/19'],
  ['2019-05-01', '1. Mai 19'],
  ['2019-05-01', '1-May-2019'],
  ['24.12', '24. déc.'],
  ['True', 'WAHR'],
  ['true', 'TRUE'],
  ['3:45', '03:45:00'],
  ['\u6771\u4eac', '??'],
  ['Dvořák', 'Dvo?ák'],
  ['Dvořák', 'Dvo??k'],
  ['Dvořák', 'Dvo\uFFFDák']
] as const)('%s that became %s is refused', ([current, cell]) => {
  expect(findDamage(current, cell)).toMatch(/format the column as text, and enter|save the file as/)
})

test.for([
  ['2019-05-01', '2020-06-02'],
  ['2019-05-01', '2019-05-02'],
  ['2019-05-01', '2.5.2019'],
  ['2019-05-01', '1. Jun 2019'],
  ['7/11', '7/12'],
  ['7/11', '12. Jul'],
  ['May 99', '02.05.1999'],
  ['Sum 41', 'Sum 42'],
  ['120.0', '120'],
  ['1.50', '1.5'],
  ['120', '120.0'],
  ['7', '007'],
  ['007', '8'],
  ['True', 'FALSE'],
  ['true', 'True'],
  ['3:45', '3:46'],
  ['Dvořák', 'Dvorák'],
  ['Łódź', 'Lodz'],
  ['Why', 'Wh?'],
  ['a', '']
] as const)('%s may be changed to %s', ([current, cell]) => {
  expect(findDamage(current, cell)).toBeNull()
})
