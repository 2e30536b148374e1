/** Names of one reason at most that are kept; more are counted. */
const maxNames = 100_000

interface ReportEntry {
  readonly names: string[]
  count: number
}

/** What a migration took, and what it did not take. */
export function openMigrationReport() {
  const taken = new Map<string, { total: number; added: number }>()
  const left = new Map<string, ReportEntry>()
  const advice: string[] = []
  return {
    /** Counts records of AzuraCast that are in Cuewire after the migration, and how many of them this run added. */
    take(what: string, total: number, added: number): void {
      const counts = taken.get(what) ?? { total: 0, added: 0 }
      taken.set(what, { total: counts.total + total, added: counts.added + added })
    },
    /** Lists something that was not taken, or not completely, under a reason. */
    leave(reason: string, name: string): void {
      const entry = left.get(reason) ?? { names: [], count: 0 }
      left.set(reason, entry)
      entry.count += 1
      if (entry.names.length < maxNames) entry.names.push(name)
    },
    /** Adds a line about what the operator has to do. */
    advise(line: string): void {
      if (!advice.includes(line)) advice.push(line)
    },
    /** The number of records that this run added. */
    added: (): number => [...taken.values()].reduce((sum, { added }) => sum + added, 0),
    render: (isDryRun: boolean): string => renderMigrationReport(taken, left, advice, isDryRun)
  }
}

export type MigrationReport = ReturnType<typeof openMigrationReport>

function renderMigrationReport(
  taken: ReadonlyMap<string, { readonly total: number; readonly added: number }>,
  left: ReadonlyMap<string, Readonly<ReportEntry>>,
  advice: readonly string[],
  isDryRun: boolean
): string {
  const lines = [isDryRun ? 'Would be taken:' : 'Taken:']
  for (const [what, { total, added }] of taken) {
    const known = total - added
    const note = known === 0 ? '' : ` (${known} of them before this run)`
    lines.push(`  ${String(total).padStart(9)} ${what}${note}`)
  }
  lines.push('', left.size === 0 ? 'Everything was taken.' : 'Not taken, or not completely:')
  for (const [reason, { names, count }] of left) {
    lines.push(`  ${reason}: ${count}`, ...names.map(name => `    ${escapeControls(name)}`))
    if (count > names.length) lines.push(`    and ${count - names.length} more`)
  }
  if (advice.length > 0) lines.push('', 'To do:', ...advice.map(line => `  ${escapeControls(line)}`))
  return `${lines.join('\n')}\n`
}

/** Replaces what could control a terminal. */
const escapeControls = (text: string): string => text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, '?')
