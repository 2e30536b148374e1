import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { isSpreadsheetForm } from '../../../src/api/library/table/spreadsheet-form.ts'

test.for([
  ['2.0', '2'],
  ['120.0', '120'],
  ['1.50', '1.5'],
  ['1.50', '1,5'],
  ['1,50', '1,5'],
  ['.5', '0.5'],
  ['5.', '5'],
  ['007', '7'],
  ['0.0', '0'],
  ['+44', '44'],
  ['(5)', '-5'],
  ['5-', '-5'],
  [' 7', '7'],
  ['1.5', '1,5'],
  ['1e5', '1E+05'],
  ['1E5', '100000'],
  ['1e5', '1.00E+05'],
  ['12E-3', '0.012'],
  ['123456789012', '1.23457E+11'],
  ['123456789012', '1,23457E+11'],
  ['120000012345', '1.2E+11'],
  ['1234567890123456', '1.23E+15'],
  ['12345678901234567', '12345678901234500'],
  ['12345678901234567', '1.23457E+16'],
  ['12345678901234567', '1.23456789012346E+16'],
  ['3.14159265358979', '3.141592654'],
  ['0.00001', '1E-05'],
  ['50.0%', '50.00%'],
  ['5,5 %', '5,50%'],
  ['50%', '0.5'],
  ['$5.5', '$5.50'],
  ['$1000', '$1,000'],
  ['5 €', '5,00 €'],
  ['1,000', '1000'],
  ['1.000,50', '1000,5'],
  ['1 234', '1234'],
  ["1'234.5", '1234.5']
] as const)('%s, a number, becomes %s', ([text, cell]) => {
  expect(isSpreadsheetForm(text, cell)).toBe(true)
})

test.for([
  ['7/11', '11. Jul'],
  ['7/11', '7-Nov'],
  ['7/11', '07.11.2026'],
  ['7/11', '01/07/2011'],
  ['7/11', '7月11日'],
  ['1/2', '01. Feb'],
  ['1-2', '2-Jan'],
  ['1.5', '01. Mai'],
  ['1.5.', '01.05.26'],
  ['3.14', 'Mrz 14'],
  ['May 99', '01.05.1999'],
  ['May 99', 'Mai 99'],
  ['SEPT2', '2-Sep'],
  ['May1', '01. Mai'],
  ['1984-01', 'Jan-84'],
  ['2019-05-01', '01.05.2019'],
  ['2019-05-01', '5/1/19'],
  ['2019-05-01', '1. Mai 19'],
  ['2019-05-01', '1-May-2019'],
  ['2019-05-01 20:00', '01.05.2019 20:00'],
  ['2019-05-01T20:00:30', '5/1/2019 20:00'],
  ['24.12', '24. déc.'],
  ['3:45', '03:45:00'],
  ['3:30', '3:30:00 AM'],
  ['10:04 pm', '22:04:00'],
  ['0:90', '1:30'],
  ['True', 'WAHR'],
  ['true', 'TRUE'],
  ['Wahr', 'WAHR'],
  ['false', 'ЛОЖЬ']
] as const)('%s, a date, a time or a logical value, becomes %s', ([text, cell]) => {
  expect(isSpreadsheetForm(text, cell)).toBe(true)
})

test.for([
  ['2', '2.0'],
  ['120', '120.0'],
  ['7', '007'],
  ['44', '+44'],
  ['1.5', '1.50'],
  ['0.5', '.5'],
  ['100000', '1e5'],
  ['5', '$5'],
  ['$5', '€5'],
  ['0.5', '50%'],
  ['50', '50%'],
  ['007', '8'],
  ['2.0', '2.1'],
  ['2.0', '20'],
  ['123456789012', '1.23458E+11'],
  ['1234567891', '1234567890'],
  ['1.123456', '1.12346'],
  ['1e999', '2E+999'],
  ['2/4', '1/2'],
  ['2019-05-01', '2020-06-02'],
  ['2019-05-01', '2019-05-02'],
  ['2019-05-01', '2.5.2019'],
  ['2019-05-01', '1. Jun 2019'],
  ['2019-05-01 20:00', '01.05.2019 21:00'],
  ['7/11', '7/12'],
  ['7/11', '12. Jul'],
  ['May 99', '02.05.1999'],
  ['Sum 41', 'Sum 42'],
  ['3:45', '3:46'],
  ['True', 'FALSE'],
  ['true', 'True'],
  ['2.0', ''],
  ['', '0'],
  ['2.0', '2.0'],
  ['Track 2.0', 'Track 2'],
  ['Aria', 'Arioso'],
  ['Track 01', 'Song 01'],
  ['7 Seconds', '7 Samurai'],
  ['3 Doors', '3 Days'],
  ['Apollo 13', 'Area 13'],
  ['Show 2020', 'Best 2020'],
  ['Level 42', 'Level-42'],
  ['9/11', '9 Songs'],
  ['7/11', '7 Eleven']
] as const)('%s does not become %s', ([text, cell]) => {
  expect(isSpreadsheetForm(text, cell)).toBe(false)
})

test('every number with zeros around it becomes the number, and never the other way round', () => {
  const zeros = fc.integer({ min: 1, max: 4 }).map(count => '0'.repeat(count))
  const parts = fc.tuple(fc.nat(), fc.integer({ min: 1, max: 9 }), zeros, fc.boolean())
  fc.assert(
    fc.property(parts, ([whole, fraction, padding, isBefore]) => {
      const cell = `${whole}.${fraction}`
      const text = isBefore ? padding + cell : cell + padding
      expect([isSpreadsheetForm(text, cell), isSpreadsheetForm(cell, text)]).toEqual([true, false])
    })
  )
})
