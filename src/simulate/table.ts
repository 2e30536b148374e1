/** A table as text for a terminal. Columns of numbers, times and lengths stand to the right; an empty table is no lines. */
export function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return []
  const columns = head.map((title, column) => {
    const cells = rows.map(row => row[column] ?? '')
    const isNumeric = cells.every(cell => /^[-+]?[\d,.:]*( %)?$/.test(cell))
    const width = Math.max(title.length, ...cells.map(cell => cell.length))
    return (cell: string) => (isNumeric ? cell.padStart(width) : cell.padEnd(width))
  })
  const line = (cells: readonly string[]) =>
    columns
      .map((fit, column) => fit(cells[column] ?? ''))
      .join('  ')
      .trimEnd()
  return [line(head), ...rows.map(line)].map(text => `  ${text}`)
}
