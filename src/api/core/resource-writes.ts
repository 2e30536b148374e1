import { isDeepStrictEqual } from 'node:util'

import type * as v from 'valibot'

import type { StationChange } from '../../engine/change-station.ts'
import { toColumnName, sealingPurpose } from '../../model/fields/field.ts'
import type { Fields, ValuesOf } from '../../model/fields/field.ts'
import { changesValidator, bodyValidator } from '../../model/fields/form.ts'
import { ApiError, codeOf, fieldError, type FieldError } from '../../platform/runtime/errors.ts'
import type { Tx } from '../../stores/db/sql.ts'
import { hashPassword } from '../auth/passwords.ts'
import { acceptBody, assertNoProblems, mergeProblems, problemsIn } from './accept.ts'
import { recordAudit } from './audit.ts'
import { auditChanges, findChanged } from './audited-changes.ts'
import type { Reads } from './resource-reads.ts'
import {
  type Deletion,
  isOfStation,
  isStations,
  type RenderContext,
  type Resource,
  type ResourceHooks,
  type StoredRecord,
  type Write
} from './resource.ts'
import type { ApiRequest } from './route.ts'
import type { ApiServices } from './services.ts'
import { markToPublish, publishWrite, runEdit, runCreation, type WriteCall } from './write-transaction.ts'

type Values = Readonly<Record<string, unknown>>

/** Opens the writes of a resource. A record of a station is found only together with that station. */
export function openWrites<F extends Fields>(
  resource: Resource<F>,
  hooks: ResourceHooks<F>,
  { find, read }: Reads<F>
) {
  const { table, fields, label } = resource
  const writable = Object.keys(fields).filter(name => fields[name]?.kind !== 'read-only')
  const unstored = writable.filter(name => !fields[name]?.isStored)
  const creationValidator = bodyValidator(fields)
  const updateValidator = changesValidator(fields)

  /** Creates a record. Returns it as rendered, with the values that only this response contains. */
  async function create(call: WriteCall): Promise<{ readonly id: number }> {
    const { services, request, station } = call
    const { values, sent, problems, early } = await accept(call, null, creationValidator)
    const record = { services, station, before: null, values, sent, reveal: {} }
    const insert = async (tx: Tx, change: StationChange | null) => {
      const late = (await hooks.beforeWrite?.({ ...record, tx, change })) ?? []
      assertNoProblems(mergeProblems(problems, [...early, ...late]))
      const row = { ...(isOfStation(resource) ? { station_id: station?.id } : {}), ...toColumns(tx, values) }
      const [inserted] = await tx<{ id: number }[]>`insert into ${tx(table)} ${tx(row)} returning id`
      if (!inserted) throw new Error('insert returned no row')
      return inserted.id
    }
    const id = await translateErrors(problems, () =>
      runCreation(call, insert, (tx, change, inserted) =>
        finish(request, { ...record, tx, change }, inserted, findChanged(fields, null, values))
      )
    )
    await publishWrite(call, id)
    return { id, ...(await read(services, request, station, id)), ...record.reveal }
  }

  async function update(call: WriteCall, id: number): Promise<void> {
    const { services, request, station } = call
    const { values: given, sent: named, problems, early } = await accept(call, id, updateValidator)
    const sent = new Set([...named].filter(name => !keepsSecret(name, given, request.body)))
    const isChanged = await translateErrors(problems, () =>
      runEdit(call, { id }, async (tx, change) => {
        // Not `for update`: records that refer to this one may be added meanwhile.
        const stored = await find(tx, station, id, tx`for no key update`)
        const before = await withUnstored(stored, { services, station, caller: request.caller, sql: tx })
        const applied = Object.entries(given).filter(([name]) => sent.has(name))
        const values: ValuesOf<F> = { ...writableOf(before), ...Object.fromEntries(applied) }
        const write = { tx, change, services, station, before, values, sent, reveal: {} }
        const late = [...early, ...((await hooks.beforeWrite?.(write)) ?? [])]
        assertNoProblems(mergeProblems(problems, [...fixedProblems(values, before), ...late]))
        const changed = findChanged(fields, before, values)
        if (changed.length === 0) return false
        const row = toColumns(tx, values)
        await Promise.all([
          // Executed at once, so that the statements of `afterWrite` follow it.
          tx`update ${tx(table)} set ${tx(row)} where id = ${id}`.execute(),
          finish(request, write, id, changed)
        ])
        return true
      })
    )
    if (isChanged) await publishWrite(call, id)
  }

  async function remove(call: WriteCall, id: number): Promise<void> {
    const { services, request, station } = call
    await translateErrors([], () =>
      runEdit(call, { id, isDeletion: true }, async (tx, change) => {
        const before = await find(tx, station, id, tx`for update`)
        const deletion = { tx, change, services, station, before, values: null }
        assertNoProblems((await hooks.beforeWrite?.(deletion)) ?? [])
        // `beforeWrite` marks a station as deleted. Its rows are deleted later, in batches.
        if (!isStations(resource)) await tx`delete from ${tx(table)} where id = ${id}`
        await finish(request, deletion, id, findChanged(fields, before, null))
      })
    )
    await publishWrite(call, id)
  }

  /** Parses and validates the body before the transaction. `early` holds the problems returned by `validate`. */
  async function accept<Given extends Partial<ValuesOf<F>>>(
    { services, request, station }: WriteCall,
    id: number | null,
    form: v.GenericSchema<unknown, Given>
  ) {
    const { values, problems } = acceptBody(form, fields, request.body, { isPartial: id !== null })
    const early = (await hooks.validate?.({ services, station, query: request.query, id, values })) ?? []
    const sent = new Set(Object.keys(values))
    return { values: await protectSecrets(services, values), sent, problems, early }
  }

  /** Ends a write in its transaction. The statements are pipelined. */
  async function finish(
    request: ApiRequest,
    write: Write<F> | Deletion<F>,
    id: number,
    changed: readonly string[]
  ): Promise<void> {
    const { before, values } = write
    await Promise.all([
      hooks.afterWrite?.(write, id),
      markToPublish(resource, write.tx, write.change),
      recordAudit(write.tx, request, {
        record: resource.name,
        id,
        name: String((values ?? before)?.[label] ?? ''),
        changes: auditChanges(fields, before, values, changed)
      })
    ])
  }

  /** Whether a secret keeps its stored value: `""` keeps it, null clears it. */
  function keepsSecret(name: string, given: Values, body: unknown): boolean {
    if (fields[name]?.kind !== 'secret' || given[name] !== '') return false
    return !(typeof body === 'object' && body !== null && Reflect.get(body, name) === null)
  }

  /** The row with the writable fields that have no column. */
  async function withUnstored(row: StoredRecord<F>, context: RenderContext): Promise<StoredRecord<F>> {
    if (unstored.length === 0) return row
    const [rendered = {}] = (await hooks.render?.([row], context)) ?? []
    return { ...row, ...Object.fromEntries(unstored.map(name => [name, rendered[name]])) }
  }

  function writableOf(row: StoredRecord<F>): ValuesOf<F>
  function writableOf(row: Values) {
    return Object.fromEntries(writable.map(name => [name, row[name]]))
  }

  function fixedProblems(values: Values, before: StoredRecord<F>): FieldError[] {
    return writable
      .filter(name => fields[name]?.isFixed && !isDeepStrictEqual(values[name], before[name]))
      .map(name => fieldError(name, 'read_only', 'cannot be changed.'))
  }

  /** Returns the values with new secrets sealed or hashed. Slow, so it runs before the transaction. */
  async function protectSecrets<Given extends object>(services: ApiServices, given: Given): Promise<Given> {
    const result = { ...given }
    for (const [name, { kind, isHashed }] of Object.entries(fields)) {
      const value: unknown = Reflect.get(result, name)
      if (kind !== 'secret' || typeof value !== 'string' || value === '') continue
      const stored = isHashed
        ? await hashPassword(value)
        : services.secrets.seal(value, sealingPurpose(table, name))
      Reflect.set(result, name, stored)
    }
    return result
  }

  function toColumns(tx: Tx, values: Values) {
    const stored = writable.filter(name => fields[name]?.isStored)
    return Object.fromEntries(stored.map(name => [toColumnName(name), toColumn(tx, values[name])]))
  }

  /**
   * Runs a write and throws its errors as API errors. `problems` are those of the body: they have precedence
   * over other errors.
   */
  async function translateErrors<Result>(
    problems: readonly FieldError[],
    write: () => Promise<Result>
  ): Promise<Result> {
    try {
      return await write()
    } catch (error) {
      if (problems.length > 0 && problemsIn(error).length === 0) assertNoProblems(problems)
      throw translateConstraint(error, resource.unique ?? {}, isOfStation(resource))
    }
  }

  return { create, update, remove }
}

function toColumn(tx: Tx, value: unknown) {
  if (typeof value === 'object' && value !== null) return tx.json(JSON.parse(JSON.stringify(value)))
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  return null
}

/** Translates the violation of a constraint. Returns every other error as it is. */
function translateConstraint(
  error: unknown,
  unique: Readonly<Record<string, string>>,
  hasStation: boolean
): unknown {
  const code = codeOf(error)
  const constraint = error instanceof Error && 'constraint_name' in error ? String(error.constraint_name) : ''
  const field = unique[constraint]
  if (code === '23505' && field !== undefined)
    return ApiError.ofFields([fieldError(field, 'duplicate', 'is already taken.')], 'conflict')
  // The station was deleted meanwhile.
  const isStationMissing = code === '23503' && constraint.endsWith('_station_id_fkey')
  return hasStation && isStationMissing ? new ApiError('not-found') : error
}
