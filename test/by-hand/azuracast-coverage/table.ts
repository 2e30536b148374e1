import { differences } from './differences.ts'
import { steps } from './plan.ts'
import type { OperationResult } from './run.ts'

const begin = '<!-- coverage: written by npm run azuracast-coverage -->'
const end = '<!-- coverage ends -->'

/** Replaces the table between its marks in a page, or appends it. */
export function replaceTable(page: string, table: string): string {
  const block = `${begin}\n\n${table}\n\n${end}`
  const [before, rest] = [page.split(begin)[0] ?? '', page.split(end)[1]]
  return page.includes(begin) && rest !== undefined
    ? `${before}${block}${rest}`
    : `${page.trimEnd()}\n\n${block}\n`
}

const order = [
  'valid',
  'empty',
  'keys absent',
  'against the schema',
  'refused',
  'not sent',
  'missing',
  'out of scope'
]

/** Renders counts and a table of all operations by group. */
export function renderTable(results: readonly OperationResult[], version: string): string {
  const tags = [...new Set(results.map(({ operation }) => operation.tag))].toSorted()
  const sections = tags.map(tag => {
    const rows = results.filter(({ operation }) => operation.tag === tag).map(renderRow)
    return [`### ${tag}`, '', '| operation | result | effect of a write |', '|---|---|---|', ...rows].join(
      '\n'
    )
  })
  return [
    `AzuraCast ${version}, ${results.length} operations.`,
    '',
    renderCounts(results),
    '',
    sections.join('\n\n')
  ].join('\n')
}

/** Renders how many operations have each result. */
export function renderCounts(results: readonly OperationResult[]): string {
  const rows = order
    .map(kind => [kind, results.filter(({ verdict }) => verdict.kind === kind).length] as const)
    .filter(([, count]) => count > 0)
  const checked = results.filter(({ effect }) => effect === true).length
  return [
    '| result | operations |',
    '|---|---|',
    ...rows.map(([kind, count]) => `| ${kind} | ${count} |`),
    `| writes whose effect was found | ${checked} |`
  ].join('\n')
}

function renderRow({ operation, verdict, effect }: OperationResult): string {
  const difference = differences[operation.id]
  const notes = [
    ...(difference === undefined ? [] : [`differs from the document: ${difference.reason}`]),
    ...(steps[operation.id]?.needsSession ? ['with a session; a key is refused'] : [])
  ]
  const note = notes.length === 0 ? '' : ` (${notes.join('; ')})`
  const detail =
    'keys' in verdict
      ? `: ${verdict.keys.join(', ')}`
      : 'problems' in verdict
        ? `: ${verdict.problems.join('; ')}`
        : ''
  const found = effect === null ? '' : effect === true ? 'found' : effect
  const cells = [`\`${operation.method} ${operation.path}\``, `${verdict.kind}${detail}${note}`, found]
  return `| ${cells.map(cell => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
}
