/** As spreadsheets show long numbers. */
const shortened = /^-?\d([.,]\d+)?E[+-]\d{2,}$/

/**
 * Says how a spreadsheet has damaged a text, so that the cell says neither the stored text nor another; null if the new
 * text may be intended. The sentence follows the name of the column.
 */
export function findSpreadsheetDamage(current: string, cell: string): string | null {
  if (shortened.test(cell))
    return 'is a number that a spreadsheet has shortened: format the column as text, and enter the number again.'
  if (cell.includes('\uFFFD') && !current.includes('\uFFFD'))
    return 'has replacement characters: save the file as UTF-8.'
  if (hasLostCharacters(current, cell))
    return `has lost characters of ${JSON.stringify(current.slice(0, 100))}: save the file as CSV UTF-8.`
  return null
}

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
