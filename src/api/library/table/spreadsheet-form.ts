import { canBeSameDate } from './same-date.ts'
import { isSameSpreadsheetNumber } from './same-number.ts'

/** Spreadsheets take longer texts for nothing but texts. */
const maxLength = 60

/** As spreadsheets show dates: `11. Jul`, `7-Nov`, `Mai 99`, `01/07/2011`, `7月11日`. */
const date =
  /^\d{1,2}[-/. ]{1,2}\p{L}{3,9}\.?([- ]\d{2,4})?$|^\p{L}{3,9}\.?[- ]\d{2,4}$|^\d{1,4}([-/.]\d{1,4}){2}$|^(\d{4}[年년] ?)?\d{1,2}[月월]( ?\d{1,2}[日일])?$/u
const time = /(?:^|[ T])(\d{1,4}):(\d{1,4})(?::(\d{1,4}))?([.,]\d+)?(?: ?([ap])\.?m\.?)?$/i
const logicalValues = [
  /^(TRUE|WAHR|VRAI|VERDADERO|VERO|WAAR|VERDADEIRO|PRAWDA|PRAVDA|TOSI|IGAZ|SANT|SAND|ИСТИНА)$/iu,
  /^(FALSE|FALSCH|FAUX|FALSO|ONWAAR|FAŁSZ|NEPRAVDA|EPÄTOSI|HAMIS|FALSKT|FALSK|USANN|ЛОЖЬ)$/iu
]

/**
 * Whether a cell is what a spreadsheet of some country makes of a text by itself, because it takes the text for a
 * number, a date, a time or a logical value: `2` of `2.0`, `7` of `007`, `1.23457E+11` of `123456789012`, `11. Jul` of
 * `7/11`, `WAHR` of `True`. Never the other way round: nothing makes `2.0` of `2`.
 */
export function isSpreadsheetForm(text: string, cell: string): boolean {
  if (text === cell || text.length > maxLength || cell.length > maxLength) return false
  const [before, after] = [text.trim(), cell.trim()]
  if (before === '' || after === '') return false
  return isSameSpreadsheetNumber(before, after) || isSameLogical(before, after) || isSameMoment(before, after)
}

const isSameLogical = (text: string, cell: string) =>
  cell === cell.toUpperCase() && logicalValues.some(names => names.test(text) && names.test(cell))

function isSameMoment(text: string, cell: string): boolean {
  const [before, after] = [splitTime(text), splitTime(cell)]
  if (before.date === '' || after.date === '')
    return before.date === after.date && before.seconds === after.seconds
  if (!date.test(after.date) || !canBeSameDate(before.date, after.date)) return false
  // Beside a date, seconds are not shown.
  const { seconds } = before
  return after.seconds === seconds || (seconds !== null && after.seconds === seconds - (seconds % 60))
}

/** Returns the date and the time of day of a text; its time is null if it has none. */
function splitTime(text: string): { readonly date: string; readonly seconds: number | null } {
  const found = time.exec(text)
  if (!found) return { date: text, seconds: null }
  const [, hours, minutes, seconds = '0', fraction = '', half] = found
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (/p/i.test(half) ? 12 : 0)
  return {
    date: text.slice(0, found.index).replace(/,$/, ''),
    seconds: hour * 3_600 + Number(minutes) * 60 + Number(seconds + fraction.replace(',', '.'))
  }
}
