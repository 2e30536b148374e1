/** A number that a text can be. Spreadsheets of different countries take `1.234` for different ones. */
interface NumberReading {
  readonly value: number
  /** The sign of a currency, or percent; empty: none. */
  readonly unit: string
  /** Whether spreadsheets write it so: without zeros that mean nothing, or as an amount. */
  readonly isNormal: boolean
  readonly isScientific: boolean
}

const number =
  /^(?<sign>[-+\u2212(]?) ?(?<before>\p{Sc}?) ?(?<digits>\d[\d.,'\u2019 \u00A0\u202F]*|[.,]\d+)(?<exponent>E[-+]?\d{1,3})? ?(?<after>\p{Sc}|%)?(?<end>[-)]?)$/iu
const plain = /^\d*([.,]\d*)?$/
const grouped = /^[1-9]\d{0,2}([.,'\u2019 \u00A0\u202F])\d{3}(?:\1\d{3})*(?:(?!\1)[.,]\d*)?$/
/** Without zeros at its start and end. */
const shortest = /^(0|[1-9]\d*)([.,]\d*[1-9])?$/
const amount = /^(0|[1-9]\d*)([.,]\d\d?)?$/

/**
 * Spreadsheets keep 15 digits, and show fewer: those of `1.23E+15` or `1.23457E+15`, and 11 characters of a
 * fraction.
 */
const keptDigits = 15
const shownDigits = { scientific: [3, 6, 10, keptDigits], whole: [keptDigits], fraction: [9, 10, keptDigits] }

/** Whether a spreadsheet that takes a text for a number writes this cell for it. */
export function isSameSpreadsheetNumber(text: string, cell: string): boolean {
  const shown = readNumbers(cell).filter(({ isNormal }) => isNormal)
  return (
    shown.length > 0 &&
    readNumbers(text).some(stored =>
      shown.some(each => (each.unit === '' || each.unit === stored.unit) && isShownAs(stored.value, each))
    )
  )
}

function isShownAs(value: number, { value: shown, isScientific }: NumberReading): boolean {
  const kind = isScientific ? 'scientific' : Number.isInteger(value) ? 'whole' : 'fraction'
  return value === shown || shownDigits[kind].some(digits => Number(value.toPrecision(digits)) === shown)
}

/** Returns the numbers that a text can be; none if it is no number. */
function readNumbers(text: string): NumberReading[] {
  const groups = number.exec(text)?.groups ?? {}
  const { sign = '', before = '', exponent = '', after = '', end = '' } = groups
  const digits = (groups['digits'] ?? '').trim()
  if (digits === '' || (sign === '(') !== (end === ')') || (before !== '' && after !== '')) return []
  const unit = before || after
  const isSigned = !['', '+'].includes(sign) || end !== ''
  const isNormalSign = /^-?$/.test(sign) && end === ''
  const read = (decimal: string, isNormal: boolean) =>
    [decimal, truncateDigits(decimal)].map(each => ({
      value: (Number(each + exponent) / (unit === '%' ? 100 : 1)) * (isSigned ? -1 : 1),
      unit,
      isNormal: isNormal && isNormalSign,
      isScientific: exponent !== ''
    }))
  const separator = grouped.exec(digits)?.[1] ?? null
  return [
    ...(plain.test(digits) ? read(digits.replace(',', '.'), isNormalDecimal(digits, exponent, unit)) : []),
    ...(separator === null ? [] : read(digits.replaceAll(separator, '').replace(',', '.'), exponent === ''))
  ].filter(({ value }) => Number.isFinite(value))
}

function isNormalDecimal(digits: string, exponent: string, unit: string): boolean {
  if (exponent !== '') return /^E[-+]\d{2,3}$/.test(exponent) && /^\d([.,]\d+)?$/.test(digits)
  return shortest.test(digits) || (unit !== '' && amount.test(digits))
}

/** As some spreadsheets store whole numbers that are too long; others round. */
const truncateDigits = (decimal: string) =>
  /^\d+$/.test(decimal) ? decimal.slice(0, keptDigits).padEnd(decimal.length, '0') : decimal
