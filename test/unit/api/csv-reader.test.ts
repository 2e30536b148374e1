import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { parse } from 'csv-parse/sync'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { renderCsvLine, unescapeFormula } from '../../../src/api/core/csv.ts'
import { openCsvFile } from '../../../src/api/library/table/csv-reader.ts'
import { ApiError } from '../../../src/platform/runtime/errors.ts'
import { anyText } from '../../support/any-text.ts'

const options = { required: ['path'], maxLines: 1_000, maxColumns: 10, maxLineBytes: 2_000 }
let folder = ''
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'csv-'))))
afterAll(async () => rm(folder, { recursive: true }))

async function read(content: string | Uint8Array, limits = {}) {
  const path = join(folder, 'songs.csv')
  await writeFile(path, content)
  await using file = await openCsvFile(path, { ...options, ...limits })
  const lines = []
  for await (const batch of file.batches()) lines.push(...batch)
  return lines.map(({ line, cells }) => ({ line, ...Object.fromEntries(cells) }))
}

const problemOf = async (content: string | Uint8Array, limits = {}) => {
  const error = await read(content, limits).then(
    () => null,
    (reason: unknown) => reason
  )
  expect(error).toBeInstanceOf(ApiError)
  return error instanceof ApiError ? error.message : ''
}

const utf16 = (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le')
const bigEndian = (text: string) => utf16(text).swap16()
const song = { path: 'a.mp3', title: 'Bébé, "€"' }

describe('forms of spreadsheets', () => {
  test.for<[string, string | Uint8Array]>([
    ['UTF-8', 'path,title\r\na.mp3,"Bébé, ""€"""\r\n'],
    ['UTF-8 with a byte order mark', '\uFEFFpath,title\r\na.mp3,"Bébé, ""€"""\r\n'],
    ['line feeds, and no last one', 'path,title\na.mp3,"Bébé, ""€"""'],
    ['carriage returns', 'path,title\ra.mp3,"Bébé, ""€"""\r'],
    ['Windows-1252', Buffer.from('path,title\r\na.mp3,"Bébé, ""\x80"""\r\n', 'latin1')],
    ['semicolons', 'path;title\r\na.mp3;"Bébé, ""€"""\r\n'],
    ['semicolons that a line names', 'sep=;\r\npath;title\r\na.mp3;"Bébé, ""€"""\r\n'],
    ['quoted names', '"path";"title"\r\n"a.mp3";"Bébé, ""€"""\r\n'],
    ['tabs', 'path\ttitle\r\na.mp3\t"Bébé, ""€"""\r\n'],
    ['UTF-16 with tabs', utf16('path\ttitle\r\na.mp3\t"Bébé, ""€"""\r\n')],
    ['UTF-16, big endian', bigEndian('path\ttitle\r\na.mp3\t"Bébé, ""€"""\r\n')],
    ['UTF-16 without a mark', utf16('path\ttitle\r\na.mp3\t"Bébé, ""€"""\r\n').subarray(2)],
    ['big endian without a mark', bigEndian('path;title\na.mp3;"Bébé, ""€"""\n').subarray(2)],
    ['UTF-16 without a mark, after `sep`', utf16('sep=;\npath;title\na.mp3;"Bébé, ""€"""').subarray(2)],
    ['columns without a name', 'path,title,,\r\na.mp3,"Bébé, ""€""",,\r\n,,,\r\n']
  ])('%s', async ([, content]) => {
    expect((await read(content)).map(({ line: _line, ...cells }) => cells)).toEqual([song])
  })

  test('a separator in an other column does not decide', async () => {
    expect(await read('path,a;b;c;d\na.mp3,x\n')).toEqual([{ line: 2, path: 'a.mp3', 'a;b;c;d': 'x' }])
  })

  test('cells that are missing at the end are not there', async () => {
    expect(await read('path,title,genre\na.mp3\n')).toEqual([{ line: 2, path: 'a.mp3' }])
  })

  test('lines are those of the file', async () => {
    const text = 'sep=,\npath,title\n\na.mp3,"x\ny"\n\n,\nb.mp3,z\n'
    expect((await read(text)).map(({ line }) => line)).toEqual([4, 8])
  })
})

test.for([
  ['little', (text: string) => utf16(text).subarray(2)],
  ['big', (text: string) => bigEndian(text).subarray(2)]
] as const)(
  'UTF-16 without a mark, %s endian, is read if few of its letters are Latin',
  async ([, encode]) => {
    const titles = Array.from({ length: 3_000 }, (_, index) => `Группа крови\u3042${index}`)
    const text = `path;title\n${titles.map(title => `Кино/${title};${title}`).join('\n')}`
    for (const charset of [null, 'utf-16', 'windows-1251']) {
      const lines = await read(encode(text), { charset, maxLines: 5_000 })
      expect(lines.map(line => Object(line).title)).toEqual(titles)
    }
  }
)

describe('a charset that is named', () => {
  const russian = Buffer.from('path,title\na.mp3,\xcb\xfe\xe1\xe8\xec\xe0\xff\n', 'latin1')
  const japanese = Buffer.from('path,title\na.mp3,\x93\x8c\x8b\x9e\n', 'latin1')
  const shifted = 'path,title\na.mp3,\x1b$BEl5~\x1b(B\n'
  test.for<[string, string, string | Uint8Array, string]>([
    ['decodes what is no UTF-8', 'windows-1251', russian, 'Любимая'],
    ['may have a usual spelling', 'CP1251', russian, 'Любимая'],
    ['may have two bytes for a character', 'Shift_JIS', japanese, '東京'],
    ['may look like ASCII', 'iso-2022-jp', shifted, '東京'],
    ['may be UTF-16', 'utf-16le', utf16('path,title\na.mp3,東京\n').subarray(2), '東京'],
    ['comes after UTF-8', 'windows-1251', 'path,title\na.mp3,Любимая\n', 'Любимая'],
    ['comes after a byte order mark', 'windows-1251', utf16('path,title\na.mp3,Любимая\n'), 'Любимая'],
    [
      'is ignored if it does not fit',
      'shift_jis',
      Buffer.from('path,title\na.mp3,é\xa0\xff\n', 'latin1'),
      'é\u00a0ÿ'
    ],
    ['is ignored if it is unknown', 'klingon', Buffer.from('path,title\na.mp3,é\n', 'latin1'), 'é']
  ])('%s', async ([, charset, content, title]) => {
    expect(await read(content, { charset })).toEqual([{ line: 2, path: 'a.mp3', title }])
  })

  test('is found in a long file with other letters at its end', async () => {
    const plain = 'b.mp3,b\n'.repeat(9_000)
    const content = Buffer.concat([Buffer.from(`path,title\n${plain}`), russian.subarray(11)])
    const lines = await read(content, { charset: 'windows-1251', maxLines: 10_000 })
    expect(lines.at(-1)).toMatchObject({ title: 'Любимая' })
  })
})

describe('a file is refused', () => {
  test.for<[string, string | Uint8Array, RegExp]>([
    ['without a name that is required', 'a,b\n1,2\n', /first line of names/],
    ['if it is empty', '\n', /first line of names/],
    ['with two columns of a name', 'path,title,title\n', /two columns "title"/],
    ['with a cell without a name', 'path,title\na,b\na,b,c\n', /line 3 has a cell without/],
    ['with an open quote', 'path,title\n"a\n', /line 2: a cell begins with a quote/],
    ['with a quote inside a cell', 'sep=,\npath,title\na"b,c\n', /line 3: a quote is inside/],
    ['with text after a quote', 'path,title\n"a"b,c\n', /line 2: a cell with quotes/],
    ['with NUL', 'path,title\na\0,b\n', /NUL/],
    ['in damaged UTF-8', Buffer.concat([Buffer.from('path\nöäü'), Buffer.of(0xe4)]), /neither valid UTF-8/],
    ['in damaged UTF-16', Buffer.concat([utf16('path\n'), Buffer.of(0, 0xd8, 65, 0)]), /byte order mark/],
    ['with too many lines', 'path\n'.repeat(1_001), /at most 1000 lines/],
    ['with too many lines of empty cells', `path,title\n${',\n'.repeat(1_001)}`, /at most 1000 lines/],
    ['with too many columns', `path${','.repeat(10)}\n`, /at most 10 columns/],
    ['with too many cells', `path\na${','.repeat(10)}\n`, /at most 10 columns/],
    ['with a long line', `path\n${'a'.repeat(2_010)}\n`, /line 2: the line has more than 2000 bytes/]
  ])('%s', async ([, content, message]) => {
    expect(await problemOf(content)).toMatch(message)
  })
})

test('parsing a file returns the texts it was rendered of', async () => {
  const text = anyText().filter(each => !each.includes('\0'))
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(text, text), { maxLength: 5 }), async rows => {
      const lines = rows.map(([path, title]) => renderCsvLine([`p${path}`, title]))
      const found = await read(`\uFEFF${renderCsvLine(['path', 'title'])}${lines.join('')}`, {
        maxLineBytes: 10_000
      })
      expect(found.map(each => Object.values(each).slice(1).map(String).map(unescapeFormula))).toEqual(
        rows.map(([path, title]) => [`p${path}`, title])
      )
    }),
    { numRuns: 50 }
  )
})

test.for([
  ['separators', ','.repeat(500_000)],
  ['line breaks', '\n'.repeat(500_000)],
  ['quotes', `"${'""'.repeat(100)}"\n`.repeat(5_000)],
  ['cells', 'a\n'.repeat(200_000)]
])('others run while megabytes of %s are read', async ([, content]) => {
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  await read(`path\n${content}`, { maxLines: 50_000, maxLineBytes: 262_144 }).catch(() => {})
  clearInterval(timer)
  // Without time slices, it would be none or one.
  expect(turns).toBeGreaterThan(5)
})

test.for([
  ['short lines', 'a\n'.repeat(20_000)],
  ['short lines with carriage returns', 'a\r'.repeat(20_000)],
  ['empty lines between', '\n\n\na\n'.repeat(5_000)]
])('others run at least every hundred lines if time slices are over at once: %s', async ([, content]) => {
  const path = join(folder, 'short.csv')
  await writeFile(path, `path,title,artist\n${content}`)
  let now = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 1_000))
  let turns = 0
  let turn = setImmediate(function count() {
    turns++
    turn = setImmediate(count)
  })
  try {
    await using file = await openCsvFile(path, { ...options, maxLines: 50_000 })
    const runs: number[] = []
    let last = { line: 1, turns }
    for await (const lines of file.batches()) {
      const { line } = lines.at(-1) ?? last
      runs.push((line - last.line) / Math.max(1, turns - last.turns))
      last = { line, turns }
    }
    expect(last.line).toBeGreaterThanOrEqual(20_000)
    // What was parsed waits in the streams, so the first batches need no more turns.
    expect(Math.max(...runs)).toBeLessThanOrEqual(100)
  } finally {
    clearImmediate(turn)
    clock.mockRestore()
  }
})

test('lines with fewer cells than the first one cost no error: the patch of the parser is applied', () => {
  const [, short] = parse('path,title\na\n', { relax_column_count: true, info: true })
  expect(short).toMatchObject({ record: ['a'], info: { error: undefined } })
})

test('empty lines before the first one are skipped', async () => {
  expect(await read('\n\npath;title\na.mp3;b\n')).toEqual([{ line: 4, path: 'a.mp3', title: 'b' }])
})
