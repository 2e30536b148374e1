import { isInWindows1252 } from '../core/csv-encoding.ts'

/** As spreadsheets show long numbers. */
const shortened = /^-?\d([.,]\d+)?E[+-]\d{2,}$/
const dateLike = /^\d{1,4}([-/.]\d{1,4}){1,2}$|^\p{L}{3,9}\.? \d{1,4}$|^\d{1,2}\.? \p{L}{3,9}$/u
/** As spreadsheets show dates: `11. Jul`, `7-Nov`, `Mai 99`, `01/07/2011`. */
const date =
  /^\d{1,2}[-/. ]{1,2}\p{L}{3,4}\.?([- ]\d{2,4})?$|^\p{L}{3,4}\.?[- ]\d{2}$|^\d{1,4}([-/.]\d{1,4}){2}$/u
const time = /^(\d{1,2}):(\d{2})(:00)?$/

/**
 * Says how a spreadsheet has changed a text that it took for a number, a date or a logical value, or whose characters its
 * encoding lacks; null if the new text may be intended. The sentence follows the name of the column.
 */
export function findDamage(current: string, cell: string): string | null {
  if (shortened.test(cell)) return 'is a number that a spreadsheet has shortened: format the column as text.'
  if (isConverted(current, cell))
    return `looks like ${JSON.stringify(current.slice(0, 100))} after a spreadsheet took it for a number, a date or a logical value: format the column as text.`
  if (cell.includes('\uFFFD') && !current.includes('\uFFFD'))
    return 'has replacement characters: save the file as UTF-8.'
  if (hasLostCharacters(current, cell))
    return `has lost characters of ${JSON.stringify(current.slice(0, 100))}: save the file as CSV UTF-8.`
  return null
}

function isConverted(current: string, cell: string): boolean {
  const [before, after] = [toNumber(current), toNumber(cell)]
  if (before !== null && after === before) return true
  if (/^(true|false)$/i.test(current) && /^(TRUE|FALSE|WAHR|FALSCH|VRAI|FAUX)$/.test(cell)) return true
  if (dateLike.test(current) && date.test(cell)) return true
  return time.test(current) && normalizeTime(current) === normalizeTime(cell)
}

const toNumber = (text: string) => (/^[+-]?\d+([.,]\d+)?$/.test(text) ? Number(text.replace(',', '.')) : null)

const normalizeTime = (text: string) =>
  text.replace(time, (_, hours: string, minutes: string) => `${Number(hours)}:${minutes}`)

/** Whether characters outside of Windows-1252 became question marks, or letters without their accents. */
function hasLostCharacters(current: string, cell: string): boolean {
  if (current.length !== cell.length) return false
  let isLost = false
  for (let index = 0; index < current.length; index++) {
    const [before, after] = [current.charAt(index), cell.charAt(index)]
    if (before === after) continue
    if (isInWindows1252(before) || (after !== '?' && after !== before.normalize('NFD').charAt(0)))
      return false
    isLost = true
  }
  return isLost
}
