import postgres from 'postgres'

import { queryDurationMetric, queryErrorsMetric } from '../../../platform/metrics/postgres.ts'
import type { SlowLog } from '../../../platform/runtime/slow-log.ts'

/** A statement that was sent, as the patch of the package reports it. Its settling functions may be replaced. */
interface SentQuery {
  readonly string: string
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
}

export type QueryObserver = (query: SentQuery) => void

const maxLoggedCharacters = 500

/** Returns an observer that measures statements, if they `areMeasured`, and logs slow ones. */
export function openQueryObserver(slowLog: SlowLog, areMeasured: boolean): QueryObserver {
  return query => {
    const sentAtMs = performance.now()
    const { string: text, resolve, reject } = query
    const finish = (error: unknown) => {
      const ms = performance.now() - sentAtMs
      if (areMeasured) {
        queryDurationMetric.observe({ statement: nameStatement(text) }, ms / 1_000)
        if (error !== null) queryErrorsMetric.inc({ class: classOf(error) })
      }
      slowLog.note('query', ms, () => ({
        statement: nameStatement(text),
        sql: text.replace(/\s+/g, ' ').trim().slice(0, maxLoggedCharacters)
      }))
    }
    query.resolve = result => {
      finish(null)
      resolve(result)
    }
    query.reject = error => {
      finish(error)
      reject(error)
    }
  }
}

/** The class of SQLSTATE: `23` for a violated constraint. */
const classOf = (error: unknown) =>
  error instanceof postgres.PostgresError ? error.code.slice(0, 2) : 'connection'

const names = new Map<string, string>()
/** Statements with parts that vary have many texts. */
const maxNames = 5_000

/** Names a statement by what it does and the first table that it names: `update stations`, `begin`. */
export function nameStatement(text: string): string {
  const known = names.get(text)
  if (known !== undefined) return known
  const name = composeName(text.toLowerCase())
  if (names.size < maxNames) names.set(text, name)
  return name
}

function composeName(text: string): string {
  const write =
    /\b(insert) into (\w+)|\b(update)\s+(\w+)\s+(?:as\s+)?(?:\w+\s+)?set\b|\b(delete) from (\w+)/.exec(text)
  const [verb, table] = write?.slice(1).filter(part => part !== undefined) ?? []
  if (verb !== undefined) return `${verb} ${table}`
  const ctes = new Set(
    [...text.matchAll(/\b(\w+)\s+as\s+(?:not\s+)?(?:materialized\s+)?\(/g)].map(([, name]) => name)
  )
  const tables = [...text.matchAll(/\bfrom\s+(?:only\s+)?(\w+)\b(?!\s*\()/g)].map(([, name]) => name ?? '')
  const read = tables.find(name => !ctes.has(name) && name !== 'lateral' && name !== 'unnest')
  if (read !== undefined) return `select ${read}`
  return /^\s*(\w+)/.exec(text)?.[1] ?? 'other'
}
