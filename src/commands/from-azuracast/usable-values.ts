import { parseLibraryPath, type PathOrProblem } from '../../model/songs/library-path.ts'
import { toDurationMs } from '../../model/songs/song.ts'
import { parseSourceTime, type RowReader, type SourceRow } from './source.ts'

/*
 * Values of AzuraCast that a database accepts and nothing can use: what is left of them is named in the report, and not
 * stored.
 */

/** No installation of AzuraCast is older. */
const earliestMs = Date.UTC(2000, 0, 1)
const dayMs = 86_400_000
/** Ids of AzuraCast have 32 bits. */
const maxId = 2 ** 40
const maxInteger = 2_147_483_647

type OnProblem = (problem: string) => void

/** Whether a number can be the id of a row. */
export const isUsableId = (id: number): boolean => Number.isInteger(id) && id > 0 && id <= maxId

const maxNameBytes = 255

/** Parses the path of a file below the media folder. */
export function parseUsablePath(text: string): PathOrProblem {
  if (/^https?:/i.test(text)) return { problem: 'must be a path below the media folder.' }
  if (text.split('/').some(name => Buffer.byteLength(name) > maxNameBytes))
    return { problem: `must not contain names of more than ${maxNameBytes} bytes.` }
  return parseLibraryPath(text, null)
}

/** Unix milliseconds; null if there is no time, or one that cannot be, such as 0000-00-00 or the year 9999. */
export function readUsableTime(
  read: RowReader,
  row: SourceRow,
  column: string,
  onProblem: OnProblem
): number | null {
  const text = read.text(row, column)
  if (text === null || text === '' || text === '0') return null
  const ms = parseSourceTime(text)
  if (ms !== null && ms >= earliestMs && ms <= Date.now() + dayMs) return ms
  onProblem(`${column} ${text}`)
  return null
}

/** Milliseconds of a length in seconds; 0 if it is unknown, negative, or longer than 24 days. */
export function readUsableLength(
  read: RowReader,
  row: SourceRow,
  column: string,
  onProblem: OnProblem
): number {
  const seconds = read.number(row, column)
  const ms = toDurationMs(seconds)
  const isUnset = seconds === 0 && ['', '0'].includes((read.text(row, column) ?? '').replace(/\.0*$/, ''))
  if (ms === 0 && !isUnset && !(seconds > 0 && seconds < 0.001))
    onProblem(`${column} ${read.text(row, column)}`)
  return ms
}

/** A whole number of 32 bits, from `min` on; the nearest one if it is not. */
export function readUsableCount(
  read: RowReader,
  row: SourceRow,
  column: string,
  onProblem: OnProblem,
  min = 0
): number {
  const number = read.number(row, column)
  const nearest = Math.min(Math.max(Math.round(number), min), maxInteger)
  if (Math.abs(nearest - number) > 1) onProblem(`${column} ${number} becomes ${nearest}`)
  return nearest
}
