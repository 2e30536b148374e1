import { canBeSameDate } from './same-date.ts'

/** As spreadsheets show long numbers. */
const shortened = /^-?\d([.,]\d+)?E[+-]\d{2,}$/
/** As spreadsheets show dates: `11. Jul`, `7-Nov`, `Mai 99`, `01/07/2011`. */
const date =
  /^\d{1,2}[-/. ]{1,2}\p{L}{3,9}\.?([- ]\d{2,4})?$|^\p{L}{3,9}\.?[- ]\d{2,4}$|^\d{1,4}([-/.]\d{1,4}){2}$/u
const time = /^(\d{1,2}):(\d{2})(:00)?$/
const logicalValues = [
  /^(TRUE|WAHR|VRAI|VERDADERO|VERO|WAAR|VERDADEIRO|PRAWDA|SANT|SAND)$/i,
  /^(FALSE|FALSCH|FAUX|FALSO|ONWAAR|FAŁSZ|FALSKT|FALSK)$/i
]

/**
 * Says how a spreadsheet has changed a text that it took for a number, a date or a logical value, or whose characters
 * its encoding lacks; null if the new text may be intended. The sentence follows the name of the column.
 */
export function findDamage(current: string, cell: string): string | null {
  if (shortened.test(cell))
    return 'is a number that a spreadsheet has shortened: format the column as text, and enter the number again.'
  const shown = JSON.stringify(current.slice(0, 100))
  if (isConverted(current, cell))
    return `looks like ${shown} after a spreadsheet took it for a number, a date or a logical value: format the column as text, and enter ${shown} again. If you want the new text, change it in the song itself.`
  if (cell.includes('\uFFFD') && !current.includes('\uFFFD'))
    return 'has replacement characters: save the file as UTF-8.'
  if (hasLostCharacters(current, cell)) return `has lost characters of ${shown}: save the file as CSV UTF-8.`
  return null
}

/** Whether a spreadsheet makes the new text of the current one by itself. */
function isConverted(current: string, cell: string): boolean {
  if (isReformatted(current, cell) || isRounded(current, cell)) return true
  if (/^(true|false)$/i.test(current) && cell === cell.toUpperCase())
    return logicalValues.some(names => names.test(current) && names.test(cell))
  if (date.test(cell) && canBeSameDate(current, cell)) return true
  return time.test(current) && normalizeTime(current) === normalizeTime(cell)
}

/**
 * Whether a number has lost its leading zeros or its plus, or has another decimal sign. Zeros at its end mean nothing.
 */
function isReformatted(current: string, cell: string): boolean {
  if (!/^[+-]?\d+([.,]\d+)?$/.test(current) || !/^-?(0|[1-9]\d*)([.,]\d+)?$/.test(cell)) return false
  const isSame = Number(current.replace(',', '.')) === Number(cell.replace(',', '.'))
  return isSame && withoutLastZeros(current) !== withoutLastZeros(cell)
}

const withoutLastZeros = (number: string) => number.replace(/([.,]\d*?)0+$/, '$1').replace(/[.,]$/, '')

/** Spreadsheets keep 15 digits. */
const isRounded = (current: string, cell: string) =>
  /^\d{16,}$/.test(current) && cell === current.slice(0, 15).padEnd(current.length, '0')

const normalizeTime = (text: string) =>
  text.replace(time, (_, hours: string, minutes: string) => `${Number(hours)}:${minutes}`)

const isLost = (before: string, after: string) => after === '?' && /[^\p{ASCII}]/u.test(before)

/** Whether characters that the encoding of the file lacks became question marks, and nothing else changed. */
function hasLostCharacters(current: string, cell: string): boolean {
  return (
    current.length === cell.length &&
    Array.from({ length: cell.length }, (_, index) => index).every(index => {
      const [before, after] = [current.charAt(index), cell.charAt(index)]
      return before === after || isLost(before, after)
    })
  )
}
