/** Prints a table in Markdown that can be pasted as it is. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  console.log(['', line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line), ''].join('\n'))
}

const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
