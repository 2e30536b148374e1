/** How a time of day is written where people count twelve hours (`2:05 PM`), and where they count all (`02:05`). */
export function clockShape(locale?: string): Intl.DateTimeFormatOptions {
  const { hour12 } = new Intl.DateTimeFormat(locale, { hour: 'numeric' }).resolvedOptions()
  return { hour: hour12 === true ? 'numeric' : '2-digit', minute: '2-digit' }
}
