/** Prints a Markdown table. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  console.log(['', renderRow(head), `|${'---|'.repeat(head.length)}`, ...rows.map(renderRow), ''].join('\n'))
}

const renderRow = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
