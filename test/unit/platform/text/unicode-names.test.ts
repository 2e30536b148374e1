import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { listUnicodeForms, unicodeNameKey } from '../../../../src/platform/text/unicode-names.ts'

test('NFC and NFD have one key, names that differ in case or accents have not', () => {
  expect(unicodeNameKey('Cafe\u0301.mp3')).toBe(unicodeNameKey('Caf\u00E9.mp3'))
  expect(unicodeNameKey('Cafe.mp3')).not.toBe(unicodeNameKey('Caf\u00E9.mp3'))
  expect(unicodeNameKey('caf\u00E9.mp3')).not.toBe(unicodeNameKey('Caf\u00E9.mp3'))
})

test('the forms of a path are those of its parts, as given first', () => {
  expect(listUnicodeForms('a/b.mp3')).toEqual(['a/b.mp3'])
  expect(listUnicodeForms('/\u00E9/o\u0308')).toEqual([
    '/\u00E9/o\u0308',
    '/\u00E9/\u00F6',
    '/e\u0301/o\u0308',
    '/e\u0301/\u00F6'
  ])
})

test('forms are few, have one key and contain the path, its NFC and its NFD', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('a', '\u00E9', 'e\u0301', '\u1EBF', '\u00EA\u0301', '/', '\u212B')),
      parts => {
        const path = parts.join('')
        const forms = listUnicodeForms(path)
        expect(forms.length).toBeLessThanOrEqual(27)
        expect(forms[0]).toBe(path)
        expect(new Set(forms).size).toBe(forms.length)
        expect(forms).toEqual(expect.arrayContaining([path.normalize('NFC'), path.normalize('NFD')]))
        for (const form of forms) expect(unicodeNameKey(form)).toBe(unicodeNameKey(path))
      }
    )
  )
})

test('forms with names that are too long for a file system are left out', () => {
  const name = `${'\u00E9'.repeat(125)}x.mp3`
  expect(listUnicodeForms(`a/${name}`)).toEqual([`a/${name}`])
  expect(listUnicodeForms(`/${name}/e\u0301/e\u0301/e\u0301`)).toEqual([
    `/${name}/e\u0301/e\u0301/e\u0301`,
    `/${name}/\u00E9/\u00E9/\u00E9`
  ])
})
