import postgres from 'postgres'

import { openSql, type Sql } from '../../src/stores/db/sql.ts'

/** The execution statistics of a statement. */
export interface Explained {
  readonly query: string
  /** Pages of 8 KiB that were read from memory or disk. */
  readonly blocks: number
  /** Rows that scans returned or filtered out. */
  readonly rows: number
  /** The execution time. */
  readonly ms: number
  /** Its scans, such as `Index Scan song_history_of_time: 25`, with the number of rows. */
  readonly scans: readonly string[]
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Index Name'?: string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows'?: number
  readonly 'Actual Loops'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly 'Shared Hit Blocks'?: number
  readonly 'Shared Read Blocks'?: number
  readonly Plans?: readonly PlanNode[]
}

/**
 * Opens a pool with the settings of the program. Its statements are explained by `auto_explain`. `explain`
 * returns the plans of the statements that `work` runs.
 */
export function openExplained(databaseUrl: string) {
  const notices: string[] = []
  const { connection } = openSql(databaseUrl, { max: 1, name: 'explained' }).options
  const sql: Sql = postgres(databaseUrl, {
    max: 8,
    types: {
      bigint: { to: 20, from: [20], serialize: (x: number) => String(x), parse: (x: string) => Number(x) }
    },
    onnotice: ({ message }) => void notices.push(message ?? ''),
    connection: {
      ...connection,
      client_min_messages: 'log',
      session_preload_libraries: 'auto_explain',
      'auto_explain.log_min_duration': '0',
      'auto_explain.log_analyze': 'on',
      'auto_explain.log_buffers': 'on',
      'auto_explain.log_timing': 'off',
      'auto_explain.log_format': 'json'
    }
  })
  return {
    sql,
    explain: async (work: () => Promise<unknown>): Promise<Explained[]> => {
      notices.length = 0
      await work()
      return notices.flatMap(explainedOf)
    },
    [Symbol.asyncDispose]: async () => sql.end({ timeout: 5 })
  }
}

function explainedOf(notice: string): Explained[] {
  const [, ms, json] = /^duration: (\S+) ms\s+plan:\s+(\{.*\})\s*$/s.exec(notice) ?? []
  if (ms === undefined || json === undefined) return []
  const { 'Query Text': query, Plan: plan }: { 'Query Text': string; Plan: PlanNode } = JSON.parse(json)
  const scans = scansOf(plan)
  return [
    {
      query: query.replaceAll(/\s+/g, ' ').trim(),
      blocks: (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0),
      rows: scans.reduce((sum, { rows }) => sum + rows, 0),
      ms: Number(ms),
      scans: scans.map(({ name, rows }) => `${name}: ${rows}`)
    }
  ]
}

function scansOf(node: PlanNode): { readonly name: string; readonly rows: number }[] {
  const inner = (node.Plans ?? []).flatMap(scansOf)
  // Other scans read rows that were already counted, or none.
  if (!node['Relation Name'] && !node['Index Name']) return inner
  const each =
    (node['Actual Rows'] ?? 0) +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0)
  const name = `${node['Node Type']} ${node['Index Name'] ?? node['Relation Name'] ?? ''}`.trim()
  return [...inner, { name, rows: Math.round(each * (node['Actual Loops'] ?? 1)) }]
}
