import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { type DumpEvent, parseDump } from '../../../../src/commands/from-azuracast/dump-parser.ts'
import { openDumpSource } from '../../../../src/commands/from-azuracast/dump-source.ts'
import { parseCreateTable } from '../../../../src/commands/from-azuracast/dump-statements.ts'
import { anyText } from '../../../support/any-text.ts'
import { escapeText } from '../../../support/azuracast/dump.ts'
import { scratchFolder } from '../../../support/scratch-folder.ts'

async function* inChunks(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

async function parse(text: string, chunkSize = 7): Promise<DumpEvent[]> {
  const events: DumpEvent[] = []
  for await (const event of parseDump(inChunks(text, chunkSize))) events.push(event)
  return events
}

const rowsIn = (events: readonly DumpEvent[]) =>
  events.flatMap(event => (event.type === 'rows' ? event.rows : []))

test.each([
  ['NULL', null],
  ['null', null],
  ['-1.5e+10', '-1.5e+10'],
  ['0', '0'],
  ["''", ''],
  ["'it''s'", "it's"],
  [String.raw`'a\'b\"c\\d'`, `a'b"c\\d`],
  [String.raw`'\0\b\n\r\t\Z\%\_'`, '\0\b\n\r\t\u001A%_'],
  ["'Bücher 🎧'", 'Bücher 🎧'],
  ["_binary 'abc'", 'abc'],
  ["_utf8mb4'ü'", 'ü'],
  ['0x42C3BC', 'Bü'],
  ["x'42C3BC'", 'Bü'],
  ["b'101'", '5'],
  ['true', '1'],
  [String.raw`'{\"a\": [1, \"b),(c\"]}'`, '{"a": [1, "b),(c"]}']
])('the value %s', async (sql, value) => {
  expect(rowsIn(await parse(`INSERT INTO \`t\` VALUES (1,${sql}),( 2 , ${sql} );`))).toEqual([
    ['1', value],
    ['2', value]
  ])
})

test('statements, comments and definitions between rows', async () => {
  const dump = `\uFEFF-- comment; with 'a quote
# another
/*!40101 SET NAMES utf8mb4 */;
DROP TABLE IF EXISTS \`t\`;
CREATE TABLE \`t\` (
  \`id\` int(11) NOT NULL AUTO_INCREMENT COMMENT 'a, b; c',
  \`odd\`\`name\` decimal(10,2) DEFAULT '0;0',
  PRIMARY KEY (\`id\`),
  CONSTRAINT \`c\` CHECK (\`id\` > 0)
) ENGINE=InnoDB;
LOCK TABLES \`t\` WRITE;
insert ignore into t (id, \`odd\`\`name\`) values
(1,2),
(3,4);
REPLACE INTO \`t\` VALUES (5,6);
DELIMITER ;;
CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW BEGIN SET @a = 1; END ;;
DELIMITER ;
-- Dump completed on 2026-11-20
`
  for (const size of [1, 5, 64, 10_000]) {
    const events = await parse(dump, size)
    expect(events[0]).toEqual({ type: 'table', table: 't', columns: ['id', 'odd`name'] })
    expect(rowsIn(events)).toEqual([
      ['1', '2'],
      ['3', '4'],
      ['5', '6']
    ])
    const columns = events.flatMap(event => (event.type === 'rows' ? [event.columns] : []))
    expect([columns[0], columns.at(-1)]).toEqual([['id', 'odd`name'], null])
    expect(events.at(-1)).toEqual({ type: 'completed' })
  }
})

test('the offsets of a statement are those of its bytes', async () => {
  const dump = "-- ü\nINSERT INTO `t` VALUES ('ä'),('b');\nINSERT INTO `t` VALUES ('c');\n"
  const events = await parse(dump, 4)
  const bytes = Buffer.from(dump)
  const ends = events.flatMap(event => (event.type === 'rows' ? [event] : []))
  const last = ends.at(-1)
  expect(bytes.subarray(last?.statementStart, last?.end).toString()).toBe("INSERT INTO `t` VALUES ('c');")
  expect(bytes.subarray(ends[0]?.statementStart).toString().startsWith("INSERT INTO `t` VALUES ('ä')")).toBe(
    true
  )
})

test.each([
  ["INSERT INTO `t` VALUES (1,'a", 'the text ends within a row'],
  ['INSERT INTO `t` VALUES (1),', 'the text ends between two rows'],
  ['INSERT INTO `t` VALUES (1) (2);', 'a row is followed by something else'],
  ['INSERT INTO `t` VALUES (1,,2);', 'this is no row'],
  ['INSERT INTO `t` VALUES (now());', 'this is no row'],
  ['INSERT INTO `t` SELECT 1;', 'the text ends within a statement'],
  ['CREATE TABLE `t` (', 'the text ends within a statement'],
  ['/* never closed', 'the text ends within a comment'],
  ['{"json": true};', 'this is no statement']
])('damaged: %s', async (dump, problem) => {
  await expect(parse(dump)).rejects.toThrow(problem)
})

test.each(['/*!40101 SET NAMES latin1 */;', '/*M!100616 SET NAMES latin1 */;', "SET NAMES 'latin1';"])(
  'another character set than UTF-8 is refused: %s',
  async dump => {
    await expect(parse(dump)).rejects.toThrow('in the character set latin1')
  }
)

test('UTF-8 and the character sets of variables are accepted', async () => {
  const dump = '/*!40101 SET NAMES utf8mb4 */;\n/*!50503 SET NAMES utf8 */;\nSET NAMES @OLD;\nUSE `a``b`;'
  expect(await parse(dump)).toEqual([{ type: 'database', name: 'a`b' }])
})

test('a dump of two databases is refused', async () => {
  const file = join(await scratchFolder(), 'db.sql')
  await writeFile(file, 'USE `azuracast`;\nUSE `azuracast`;\nUSE wordpress;\n')
  const opening = openDumpSource(file, { description: 'db.sql', signal: AbortSignal.timeout(10_000) })
  await expect(opening).rejects.toThrow('has the databases azuracast and wordpress')
})

test('a statement that is not a list of columns defines no table', () => {
  expect(parseCreateTable('CREATE TABLE `t` LIKE `u`')).toBeNull()
})

/**
 * What is read of a value: without a byte order mark, and without U+FFFD, which stands for a character that was lost.
 */
const readValue = (value: string | null) => value?.replace(/^\uFEFF/, '').replaceAll('\uFFFD', '') ?? null

test('any values survive the way through a dump, however it is cut into chunks', async () => {
  const anyValue = fc.oneof(fc.constant(null), anyText(), fc.integer().map(String))
  const anyRows = fc.array(fc.array(anyValue, { minLength: 3, maxLength: 3 }), {
    minLength: 1,
    maxLength: 20
  })
  await fc.assert(
    fc.asyncProperty(anyRows, fc.integer({ min: 1, max: 200 }), async (rows, size) => {
      const values = rows.map(
        row => `(${row.map(each => (each === null ? 'NULL' : `'${escapeText(each)}'`)).join(',')})`
      )
      const events = await parse(`INSERT INTO \`t\` VALUES ${values.join(',')};\n`, size)
      expect(rowsIn(events)).toEqual(rows.map(row => row.map(readValue)))
    }),
    { examples: [[[['\uFEFF', '\uFEFF\uFFFDa', 'a\uFEFF']], 1]] }
  )
})

test('memory is bounded: a long dump is read while it is parsed', async () => {
  const statement = Buffer.from(
    `INSERT INTO \`t\` VALUES ${Array.from({ length: 500 }, (_, id) => `(${id},'text')`).join(',')};\n`
  )
  let given = 0
  async function* chunks() {
    for (; given < 200; given++) yield statement
  }
  let rows = 0
  let ahead = 0
  for await (const event of parseDump(chunks())) {
    if (event.type === 'rows') rows += event.rows.length
    ahead = Math.max(ahead, given - rows / 500)
  }
  expect(rows).toBe(100_000)
  expect(ahead).toBeLessThan(5)
})
