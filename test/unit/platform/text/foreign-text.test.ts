import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import {
  decodeForeignLines,
  decodeForeignLinesInSlices,
  decodeForeignText,
  decodeUtf8InSlices
} from '../../../../src/platform/text/foreign-text.ts'
import { anyText } from '../../../support/any-text.ts'

const hex = (digits: string) => Uint8Array.from(Buffer.from(digits.replaceAll(' ', ''), 'hex'))
const swapped = (text: string) => Buffer.from(text, 'utf16le').swap16()

/** Starts a change of the character set in ISO-2022-JP. */
const escape = '\u001B'
const labels = fc.constantFrom(
  null,
  'utf-8',
  'latin1',
  'windows-1252',
  'koi8-r',
  'shift_jis',
  'euc-kr',
  'iso-2022-jp',
  'utf-16',
  'utf-16be',
  'gb18030',
  'no such charset',
  ''
)

test('UTF-8 is decoded as UTF-8, whatever charset is named', () => {
  const texts = anyText().filter(text => !/[\uFFFD\0]|^\uFEFF/u.test(text) && !text.includes(escape))
  fc.assert(
    fc.property(texts, labels, (text, label) => {
      fc.pre(!label?.startsWith('utf-16') || !/\p{Cc}/u.test(text))
      expect(decodeForeignText(Buffer.from(text), label)).toBe(text)
    })
  )
})

test('no bytes are decoded as U+FFFD or lone surrogates', () => {
  const marks = fc.constantFrom('', 'fffe', 'feff', 'efbbbf', 'fffe0000', '0000feff', 'efbfbd')
  fc.assert(
    fc.property(marks, fc.uint8Array({ maxLength: 40 }), labels, (mark, bytes, label) => {
      const text = decodeForeignText(Buffer.concat([hex(mark), bytes]), label)
      expect(text).not.toMatch(/[\uFFFD\p{Cs}]/u)
    })
  )
})

describe('a named charset is used for bytes that are not UTF-8', () => {
  test.each([
    ['iso-8859-1', '43 61 66 e9', 'Café'],
    ['ISO-8859-1', '44 6f 6e 92 74 20 80', 'Don’t €'],
    ['iso-8859-2', 'a3 f3 64 bc', 'Łódź'],
    ['ISO8859_2', 'a3 f3 64 bc', 'Łódź'],
    ['windows-1250', 'a3 f3 64 9f', 'Łódź'],
    ['koi8-r', 'eb c9 ce cf', 'Кино'],
    ['KOI8R', 'eb c9 ce cf', 'Кино'],
    ['windows-1251', 'ca e8 ed ee', 'Кино'],
    ['cp1251', 'ca e8 ed ee', 'Кино'],
    ['"Windows1251"', 'ca e8 ed ee', 'Кино'],
    ['iso-8859-15', 'a4 bd 75 76 72 65', '€œuvre'],
    ['ibm866', '8a a8 ad ae', 'Кино'],
    ['shift_jis', '93 fa 96 7b 8c ea', '日本語'],
    ['cp932', '93 fa 96 7b 8c ea', '日本語'],
    ['MS932', '93 fa 96 7b 8c ea', '日本語'],
    ['euc-jp', 'c6 fc cb dc b8 ec', '日本語'],
    ['iso-2022-jp', '1b 24 42 46 7c 4b 5c 38 6c 1b 28 42', '日本語'],
    ['euc-kr', 'c7 d1 b1 b9', '한국'],
    ['cp949', 'c7 d1 b1 b9', '한국'],
    ['big5', 'a4 a4 a4 e5', '中文'],
    ['gbk', 'd6 d0 ce c4', '中文'],
    ['utf-16be', '04 16 04 35', 'Же'],
    ['UTF-16LE', '16 04 35 04', 'Же'],
    ['utf-16', '00 48 00 69', 'Hi'],
    ['utf-16', '48 00 69 00', 'Hi']
  ])('%s', (label, bytes, text) => {
    expect(decodeForeignText(hex(bytes), label)).toBe(text)
  })
})

test.each(['shift_jis', 'euc-kr', 'utf-8', 'utf-16', 'utf-7', 'no such charset', '', null])(
  'bytes that do not fit the charset %j are windows-1252',
  label => {
    expect(decodeForeignText(hex('43 61 66 e9 20 93 80 94 21'), label)).toBe('Café “€”!')
  }
)

test('bytes that windows-1252 does not define become control characters', () => {
  expect(decodeForeignText(hex('81 8d 8f 90 9d ff'))).toBe('\u0081\u008D\u008F\u0090\u009Dÿ')
})

test.each([
  ['UTF-8', Buffer.from('\uFEFFКино'), 'Кино'],
  ['UTF-8, before other bytes', hex('efbbbf eb c9 ce cf'), 'Кино'],
  ['UTF-16LE', Buffer.from('\uFEFFКино', 'utf16le'), 'Кино'],
  ['UTF-16BE', swapped('\uFEFFКино'), 'Кино'],
  ['UTF-32LE', hex('fffe0000 1a040000 48f40100'), 'К\u{1F448}'],
  ['UTF-32BE', hex('0000feff 0000041a 0001f448'), 'К\u{1F448}']
])('a byte order mark names its encoding and is removed: %s', (_name, bytes, text) => {
  expect(decodeForeignText(bytes, 'koi8-r')).toBe(text)
})

test('UTF-16 without a byte order mark is detected from its NULs', () => {
  expect(decodeForeignText(Buffer.from('#EXTM3U\nКино.mp3', 'utf16le'))).toBe('#EXTM3U\nКино.mp3')
  expect(decodeForeignText(swapped('#EXTM3U\nКино.mp3'))).toBe('#EXTM3U\nКино.mp3')
  expect(decodeForeignText(Buffer.from('a title\0'))).toBe('a title\0')
})

test.each([
  ['a list', '#EXTM3U\nКино/Группа крови.mp3\n'],
  ['a list without a header', 'Музыка/Кино/Группа крови.mp3\nМузыка/Кино/Звезда по имени Солнце.mp3\n'],
  ['PLS', '[playlist]\nFile1=Кино/Группа крови.mp3\nTitle1=Группа крови\n'],
  ['long names', `#EXTM3U\n${'Группа крови на рукаве, мой порядковый номер\n'.repeat(2_000)}`]
])('a document in UTF-16 without a byte order mark may have few Latin letters: %s', async (_name, text) => {
  for (const bytes of [Buffer.from(text, 'utf16le'), swapped(text)]) {
    expect(decodeForeignLines(bytes)).toBe(text)
    expect(await decodeForeignLinesInSlices(bytes)).toBe(text)
  }
})

test('a document with NULs that is no text is not taken for UTF-16', () => {
  const binary = '\u0001\0\u0002\0a\0b\0\u0003\0\u0004cd\u0005ef\u0006ghijklmnop'
  expect(decodeForeignLines(Buffer.from(binary))).toBe(binary)
})

test('UTF-8 that was truncated within a character loses only that character', () => {
  expect(decodeForeignText(Buffer.from('Группа крови').subarray(0, -1))).toBe('Группа кров')
  expect(decodeForeignText(Buffer.from('caf\u00E9', 'latin1'))).toBe('café')
})

test('U+FFFD in UTF-8 is removed', () => {
  expect(decodeForeignText(Buffer.from('Beyonc\uFFFD'))).toBe('Beyonc')
})

describe('a large document is decoded in slices as at once', () => {
  const line = 'folder/Zoë Кино \u{1F3B5} song.mp3\n'
  const utf8 = Buffer.from(line.repeat(40_000))
  const foreign = Buffer.concat([utf8, Buffer.from('Zo\xEB.mp3\n', 'latin1'), utf8])
  test.for([
    ['UTF-8', utf8],
    ['UTF-8 after a mark', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), utf8])],
    ['UTF-8 with a line in windows-1252', foreign],
    ['UTF-16', Buffer.from(line.repeat(40_000), 'utf16le')],
    ['text without line feeds', Buffer.from('Zoë '.repeat(300_000))],
    ['nothing', Buffer.alloc(0)]
  ] as const)('%s', async ([, bytes]) => {
    expect((await decodeForeignLinesInSlices(bytes)) === decodeForeignLines(bytes)).toBe(true)
  })

  test('UTF-8 alone is decoded at any byte, and other text is refused', async () => {
    expect((await decodeUtf8InSlices(utf8)) === utf8.toString()).toBe(true)
    expect(await decodeUtf8InSlices(foreign)).toBeNull()
  })
})
