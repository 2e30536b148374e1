import { isDeepStrictEqual } from 'node:util'

import type * as v from 'valibot'

import { advance } from '../../engine/advance.ts'
import { publishAllStations, raiseSharedFactCount } from '../../engine/all-stations.ts'
import { changeStation, createStation, type StationChange } from '../../engine/change-station.ts'
import { publishStation } from '../../engine/repair-states.ts'
import { type Fields, sealingPurpose, toColumnName, type ValuesOf } from '../../model/fields/field.ts'
import { bodyValidator, changesValidator } from '../../model/fields/validators.ts'
import { withDeadline } from '../../platform/runtime/deadline.ts'
import {
  ApiError,
  assertNoFieldErrors,
  errorCodeOf,
  type FieldError,
  fieldError
} from '../../platform/runtime/errors.ts'
import { beginWriteTransaction } from '../../stores/db/begin-for-station.ts'
import type { Tx } from '../../stores/db/sql.ts'
import { hashPassword } from '../auth/passwords.ts'
import { toAuditedChanges, findChangedFields, recordAudit } from './audit.ts'
import { parseBodyWithProblems, mergeFieldErrors, fieldErrorsOf } from './parse.ts'
import type { ResourceReads } from './resource-reads.ts'
import {
  type ResourceDeletion,
  belongsToStation,
  hasStationRecords,
  type RecordRenderContext,
  type Resource,
  type ResourceBase,
  type ResourceHooks,
  stationIn,
  type StoredRecord,
  type ResourceWrite
} from './resource.ts'
import type { ApiRequest } from './route.ts'
import type { ApiServices } from './services.ts'

type Values = Readonly<Record<string, unknown>>

type Work<Result> = (tx: Tx, change: StationChange | null) => Promise<Result>

/** Opens the writes of a resource. A record of a station is found only together with that station. */
export function openResourceWrites<F extends Fields>(
  resource: Resource<F>,
  hooks: ResourceHooks<F>,
  { find, read }: ResourceReads<F>
) {
  const { table, fields, label, publishes } = resource
  const writable = Object.keys(fields).filter(name => fields[name]?.kind !== 'read-only')
  const unstored = writable.filter(name => !fields[name]?.isStored)
  const creationValidator = bodyValidator(fields)
  const updateValidator = changesValidator(fields)

  /** Creates a record. Returns it as rendered, with the values that only this response contains. */
  async function create(request: ApiRequest, services: ApiServices): Promise<{ readonly id: number }> {
    const station = stationIn(request)
    const { values, sent, problems, early } = await accept(request, services, null, creationValidator)
    const record = { services, station, before: null, values, sent, reveal: {} }
    const insert: Work<number> = async (tx, change) => {
      const late = (await hooks.beforeWrite?.({ ...record, tx, change })) ?? []
      assertNoFieldErrors(mergeFieldErrors(problems, [...early, ...late]))
      const row = {
        ...(belongsToStation(resource) ? { station_id: station?.id } : {}),
        ...toColumns(tx, values)
      }
      const [inserted] = await tx<{ id: number }[]>`insert into ${tx(table)} ${tx(row)} returning id`
      if (!inserted) throw new Error('insert returned no row')
      return inserted.id
    }
    const end = async (tx: Tx, change: StationChange | null, id: number) => {
      await finish(request, { ...record, tx, change }, id, findChangedFields(fields, null, values))
      assertOpen(request)
    }
    const id = await translateErrors(problems, () =>
      hasStationRecords(resource)
        ? createStation(
            services,
            tx => insert(tx, null),
            async change => end(change.tx, change, change.station.id)
          )
        : run(services, station?.id ?? null, async (tx, change) => {
            const inserted = await insert(tx, change)
            await end(tx, change, inserted)
            return inserted
          })
    )
    await publishAfterWrite(resource, services, id)
    return { id, ...(await read(services, request, station, id)), ...record.reveal }
  }

  async function update(request: ApiRequest, services: ApiServices, id: number): Promise<void> {
    const station = stationIn(request)
    const {
      values: given,
      sent: named,
      problems,
      early
    } = await accept(request, services, id, updateValidator)
    const sent = new Set([...named].filter(name => !keepsSecret(name, given, request.body)))
    const isChanged = await translateErrors(problems, () =>
      run(services, hasStationRecords(resource) ? id : (station?.id ?? null), async (tx, change) => {
        // Not `for update`: records that refer to this one may be added meanwhile.
        const stored = await find(tx, station, id, tx`for no key update`)
        const before = await withUnstored(stored, { services, station, caller: request.caller, sql: tx })
        const applied = Object.entries(given).filter(([name]) => sent.has(name))
        const values: ValuesOf<F> = { ...writableOf(before), ...Object.fromEntries(applied) }
        const write = { tx, change, services, station, before, values, sent, reveal: {} }
        const late = [...early, ...((await hooks.beforeWrite?.(write)) ?? [])]
        assertNoFieldErrors(mergeFieldErrors(problems, [...fixedProblems(values, before), ...late]))
        const changed = findChangedFields(fields, before, values)
        if (changed.length > 0)
          await Promise.all([
            // Executed at once, so that the statements of `afterWrite` follow it.
            tx`update ${tx(table)} set ${tx(toColumns(tx, values))} where id = ${id}`.execute(),
            finish(request, write, id, changed)
          ])
        assertOpen(request)
        return changed.length > 0
      })
    )
    if (isChanged) await publishAfterWrite(resource, services, id)
  }

  async function remove(request: ApiRequest, services: ApiServices, id: number): Promise<void> {
    const station = stationIn(request)
    const erase: Work<void> = async (tx, change) => {
      const before = await find(tx, station, id, tx`for update`)
      const deletion = { tx, change, services, station, before, values: null }
      assertNoFieldErrors((await hooks.beforeWrite?.(deletion)) ?? [])
      // `beforeWrite` marks a station as deleted. Its rows are deleted later, in batches.
      if (!hasStationRecords(resource)) await tx`delete from ${tx(table)} where id = ${id}`
      await finish(request, deletion, id, findChangedFields(fields, before, null))
      assertOpen(request)
    }
    await translateErrors([], () =>
      // The deletion of a station is not a change of the station.
      hasStationRecords(resource)
        ? beginWriteTransaction(services.sql, id, tx => erase(tx, null))
        : run(services, station?.id ?? null, erase)
    )
    await publishAfterWrite(resource, services, id)
  }

  /** Runs a write in a transaction: if it publishes something, in a change of the station. */
  async function run<Result>(services: ApiServices, stationId: number | null, work: Work<Result>) {
    return publishes !== undefined && stationId !== null
      ? changeStation(services, stationId, change => work(change.tx, change))
      : beginWriteTransaction(services.sql, stationId, tx => work(tx, null))
  }

  /** Parses and validates the body before the transaction. `early` holds the problems returned by `validate`. */
  async function accept<Given extends Partial<ValuesOf<F>>>(
    request: ApiRequest,
    services: ApiServices,
    id: number | null,
    form: v.GenericSchema<unknown, Given>
  ) {
    const { values, problems } = parseBodyWithProblems(form, fields, request.body, { isPartial: id !== null })
    const station = stationIn(request)
    const early = (await hooks.validate?.({ services, station, query: request.query, id, values })) ?? []
    const sent = new Set(Object.keys(values))
    return { values: await protectSecrets(services, values), sent, problems, early }
  }

  /** Ends a write in its transaction. The statements are pipelined. */
  async function finish(
    request: ApiRequest,
    write: ResourceWrite<F> | ResourceDeletion<F>,
    id: number,
    changed: readonly string[]
  ): Promise<void> {
    const { before, values, tx, change } = write
    if (publishes === 'station') change?.mark(['station'])
    await Promise.all([
      hooks.afterWrite?.(write, id),
      publishes === 'all stations' && raiseSharedFactCount(tx),
      recordAudit(tx, request, {
        record: resource.name,
        id,
        name: String((values ?? before)?.[label] ?? ''),
        changes: toAuditedChanges(fields, before, values, changed)
      })
    ])
  }

  /** Whether a secret keeps its stored value: `""` keeps it, null clears it. */
  function keepsSecret(name: string, given: Values, body: unknown): boolean {
    if (fields[name]?.kind !== 'secret' || given[name] !== '') return false
    return !(typeof body === 'object' && body !== null && Reflect.get(body, name) === null)
  }

  /** The row with the writable fields that have no column. */
  async function withUnstored(row: StoredRecord<F>, context: RecordRenderContext): Promise<StoredRecord<F>> {
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
      if (problems.length > 0 && fieldErrorsOf(error).length === 0) assertNoFieldErrors(problems)
      throw translateConstraint(error, resource.unique ?? {}, belongsToStation(resource))
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
  const code = errorCodeOf(error)
  const constraint = error instanceof Error && 'constraint_name' in error ? String(error.constraint_name) : ''
  const field = unique[constraint]
  if (code === '23505' && field !== undefined)
    return ApiError.ofFields([fieldError(field, 'duplicate', 'is already taken.')], 'conflict')
  // The station was deleted meanwhile.
  const isStationMissing = code === '23503' && constraint.endsWith('_station_id_fkey')
  return hasStation && isStationMissing ? new ApiError('not-found') : error
}

/** Throws if the client has left: it has seen a failure, so the write must not be committed. */
function assertOpen(request: ApiRequest): void {
  if (!request.isOpen()) throw new Error('the request was aborted')
}

const timeoutMs = 2_000

/**
 * Publishes, after the commit, what `changeStation` has not published. A station that was enabled is started,
 * and the response waits until this server shows a station as it was written.
 */
export async function publishAfterWrite(
  resource: ResourceBase,
  services: ApiServices,
  id: number
): Promise<void> {
  if (resource.publishes === 'all stations') await publishAllStations(services)
  if (!hasStationRecords(resource)) return
  try {
    const { outcome } = await advance(services, { stationId: id, endedShId: 0, cause: 'wake' })
    if (outcome === 'deleted') await publishStation(services, id)
    await withDeadline(timeoutMs, 'showing the station', () => services.live.catchUp(id))
  } catch (error) {
    services.log.warn({ err: error, station: id }, 'station changed, but not yet published')
  }
}
