import { describe, expect, test } from 'vitest'

import { computeSongId, formatSongText } from '../../../../src/model/songs/song.ts'

describe('the id of a text', () => {
  const nothing = '5a6a865199cf5df73b1417326d2ff24f'
  test.for([
    ['', nothing],
    [`   - '" `, nothing],
    ['0', nothing],
    ['- 0', nothing],
    ['Station Offline', nothing],
    [`${' '.repeat(150)}abc`, nothing],
    ['Chet Porter - Aluko River', '9f33bbc912c19603e51be8e0987d076b'],
    ['chetporteralukoriver', '9f33bbc912c19603e51be8e0987d076b'],
    ['CHET PORTER \u2014 Aluko River', '6ea04bf3b6cecd1ea3afbde6645efbdb'],
    ['Beyonc\u00E9 - D\u00E9j\u00E0 Vu', 'eb56e10c47ed05c06c958583b6fdaefd'],
    ['BEYONC\u00C9 - D\u00C9J\u00C0 VU', 'eb56e10c47ed05c06c958583b6fdaefd'],
    [`Don't Stop - "Live"`, '0ade28b964cb855a42ae651deb70c680'],
    ['Artist\u00A0- Title', 'ae5437bff1948e45d1d71e8d7e2bf99a'],
    ['Stra\u00DFe', 'ddc40daba2e976d4891e703081629368'],
    ['\u039F\u0394\u039F\u03A3', '1eba365d4aae2732227333b18249e967'],
    ['Live Broadcast', '6036f7651919b299fd611d2c28437d00'],
    ['00', 'b4b147bc522828731f1a016bfa72c073'],
    ['a'.repeat(150), 'bc620e8c15265f195c8818e2f3e3c58b'],
    ['a'.repeat(151), 'bc620e8c15265f195c8818e2f3e3c58b'],
    [`${'\u{1F600}'.repeat(149)}b`, 'cac729df496bbda8ec28967d9f403116'],
    [`${'\u{1F600}'.repeat(149)}bX`, 'cac729df496bbda8ec28967d9f403116']
  ] as const)('%j', ([text, id]) => {
    expect(computeSongId(text)).toBe(id)
  })
})

test('a text joins artist and title and omits empty parts', () => {
  expect(formatSongText('Nils Okada', 'Paper Lanterns')).toBe('Nils Okada - Paper Lanterns')
  expect(formatSongText('', 'Paper Lanterns')).toBe('Paper Lanterns')
  expect(formatSongText('Nils Okada', '')).toBe('Nils Okada')
  expect(formatSongText('', '')).toBe('')
})
