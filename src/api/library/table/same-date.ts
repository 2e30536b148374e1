interface DateParts {
  readonly day: number | null
  /** Numbers of the months that it may be. */
  readonly months: readonly number[]
  /** Without its century. */
  readonly year: number | null
}

const locales = 'en de fr es it nl pt ca ro pl cs sk sl hr sr bg hu el tr da sv nb fi et lv lt ru uk'.split(
  ' '
)
const allMonths = Array.from({ length: 12 }, (_, index) => index + 1)
/** By the first letters of their names: those of June and July differ in the fourth one in some languages. */
const monthsByName = new Map<string, Set<number>>()
for (const locale of locales)
  for (const form of ['short', 'long'] as const) {
    const format = new Intl.DateTimeFormat(locale, { month: form, timeZone: 'UTC' })
    for (const month of allMonths) {
      const name = nameKey(format.format(Date.UTC(2000, month - 1)))
      for (const key of [name, name.slice(0, 4), name.slice(0, 3)])
        monthsByName.set(key, (monthsByName.get(key) ?? new Set()).add(month))
    }
  }

// As Excel shortens März.
monthsByName.set('mrz', new Set([3]))

function nameKey(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}

type Role = 'day' | 'month' | 'year'
const roleOrders: readonly (readonly Role[])[] = [
  ['day', 'month'],
  ['month', 'day'],
  ['month', 'year'],
  ['year', 'month'],
  ['day', 'month', 'year'],
  ['month', 'day', 'year'],
  ['year', 'month', 'day'],
  ['year', 'day', 'month'],
  ['day', 'year', 'month'],
  ['month', 'year', 'day']
]

/**
 * Whether two texts can be the same date in two forms, such as `7/11` and `11. Jul` or `2019-05-01` and `1.5.19`: with
 * day, month and year in any order. One of them may lack the day or the year; spreadsheets add the first day of a
 * month.
 */
export function canBeSameDate(before: string, after: string): boolean {
  const later = readDates(after)
  return readDates(before).some(a => later.some(b => isSame(a, b)))
}

function isSame(a: DateParts, b: DateParts): boolean {
  if (!a.months.some(month => b.months.includes(month))) return false
  const hasBoth = (part: 'day' | 'year') => a[part] !== null && b[part] !== null
  if (!hasBoth('day') && !hasBoth('year')) return false
  return (!hasBoth('year') || a.year === b.year) && (b.day === null || b.day === (a.day ?? 1))
}

/** All dates that a text can be. */
function readDates(text: string): DateParts[] {
  const separated = text
    .replace(/[年月日년월일] ?/gu, '-')
    .replace(/(?<=\d)(?=\p{L})|(?<=\p{L})(?=\d)/gu, ' ')
    .replace(/[-.]$/, '')
  if (!/^(\d{1,4}|\p{L}{3,9}\.?)([-/. ,]{1,2}(\d{1,4}|\p{L}{3,9}\.?)){1,2}$/u.test(separated)) return []
  const tokens = separated.split(/[-/. ,]+/).filter(token => token !== '')
  return roleOrders
    .filter(({ length }) => length === tokens.length)
    .flatMap(roles => {
      const tokenOf = (role: Role) => tokens[roles.indexOf(role)]
      const [day, year] = [readDay(tokenOf('day')), readYear(tokenOf('year'))]
      const months = readMonths(tokenOf('month') ?? '')
      return day === undefined || year === undefined || months.length === 0 ? [] : [{ day, months, year }]
    })
}

/** Null: there is no token; undefined: it is none. */
function readDay(token: string | undefined): number | null | undefined {
  if (token === undefined) return null
  return /^\d{1,2}$/.test(token) && Number(token) >= 1 && Number(token) <= 31 ? Number(token) : undefined
}

function readYear(token: string | undefined): number | null | undefined {
  if (token === undefined) return null
  return /^(\d{1,2}|\d{4})$/.test(token) ? Number(token) % 100 : undefined
}

function readMonths(token: string): readonly number[] {
  if (/^\d/.test(token)) return allMonths.filter(month => /^\d{1,2}$/.test(token) && month === Number(token))
  return [...(monthsByName.get(nameKey(token)) ?? [])]
}
