import { azuracastResponse } from './azuracast-records.ts'
import { commonFaults } from './calls.ts'
import type { Dialect, Result } from './operation-run.ts'
import { differences } from './shape.ts'
import { addedRows, interfaceRows, type Row } from './table.ts'

const rows = [...interfaceRows, ...addedRows]

/** Keys with a dialect show it. */
const isOfKeys = ({ path }: Row) => path.startsWith('/api/v1/main/api-keys')
/** Names of parameters do not matter. */
const shapeOf = (path: string) => path.replace(/\{\w+\}/g, '{}')

/** Describes how answers differ from the rows of the interface, of which each needs an answer with status 200. */
export function differencesFromRows(results: readonly Result[], dialect: Dialect): string[] {
  return rows
    .filter(row => dialect === 'documented' || !isOfKeys(row))
    .flatMap(row => {
      const isAsked = ({ method, path }: Result) =>
        method === row.method && shapeOf(path) === shapeOf(row.path)
      const result = results.find(isAsked)
      const found = result?.status === 200 ? faultsOf(row, result, dialect) : [`answered ${result?.status}`]
      return found.map(each => `${row.method} ${row.path}: ${each}`)
    })
}

function faultsOf(row: Row, { status, headers, json }: Result, dialect: Dialect): string[] {
  const translated = dialect === 'azuracast' ? azuracastResponse(row) : null
  const isKeyed = row.permission !== 'public'
  const has = (name: string, wanted: RegExp) =>
    wanted.test(headers.get(name) ?? '') ? [] : [`header ${name}: ${headers.get(name)}, not like ${wanted}`]
  return [
    ...differences(json, translated ?? row.response),
    ...commonFaults(row.method, row.path, { status, headers, body: json }),
    ...(isKeyed ? has('cache-control', /no-store/) : []),
    ...(isKeyed && Array.isArray(json) ? has('x-total-count', /^\d+$/) : []),
    ...(translated ? has('vary', /X-API-Key, Authorization/) : [])
  ]
}
