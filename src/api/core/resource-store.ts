import { isDeepStrictEqual } from 'node:util'

import { beginForStation } from '../../db/begin-for-station.ts'
import type { Fragment, Sql, Tx } from '../../db/sql.ts'
import { columnOf, sealingPurpose, type Field, type Fields, type ValuesOf } from '../../fields/field.ts'
import { changesOf, formOf } from '../../fields/form.ts'
import { countSharedFact, publishAllStations } from '../../playout/all-stations.ts'
import { changeStation, createStation, type StationChange } from '../../playout/change-station.ts'
import { ApiError, type FieldError } from '../../runtime/errors.ts'
import { addressPattern, redactedLocation } from '../../webhooks/redact.ts'
import { maySeeWholeAddresses } from '../auth/access.ts'
import { acceptBody, allProblems, problemsIn } from './accept.ts'
import { recordAudit } from './audit.ts'
import { likePattern, type ListQuery, type ListResult, readList } from './list.ts'
import {
  type RenderContext,
  type Resource,
  type ResourceRules,
  type StoredRecord,
  storedFields
} from './resource.ts'
import type { ApiRequest, Caller, StationRow } from './route.ts'
import type { ApiServices } from './services.ts'

/** Reads and writes the records of one resource. Everything is looked up together with its station. */
export function openStore<F extends Fields>(resource: Resource<F>, rules: ResourceRules<F> = {}) {
  const { table, fields, paths, only = 'true' } = resource
  const names = storedFields(fields)
  const changeable = Object.keys(fields).filter(name => fields[name]?.kind !== 'read-only')
  const writable = changeable.filter(name => fields[name]?.isStored)
  const columns = ['id', ...names].map(name => `"${columnOf(name)}" as "${name}"`).join(', ')
  const isOfStation = paths.list.includes(':station_id')
  const isStation = table === 'stations'
  const creation = formOf(fields)
  const changes = changesOf(fields)

  const scope = (sql: Sql | Tx, station: StationRow | null): Fragment =>
    isOfStation ? sql`station_id = ${station?.id ?? null} and ${sql.unsafe(only)}` : sql`${sql.unsafe(only)}`

  async function find(
    sql: Sql | Tx,
    station: StationRow | null,
    id: number,
    lock: Fragment
  ): Promise<StoredRecord<F>> {
    const [row] = await sql<StoredRecord<F>[]>`
      select ${sql.unsafe(columns)} from ${sql(table)} where ${scope(sql, station)} and id = ${id} ${lock}`
    if (!row) throw new ApiError('not-found')
    return row
  }

  async function render(rows: readonly StoredRecord<F>[], context: RenderContext) {
    const shown = (await rules.shown?.(rows, context)) ?? []
    const isWhole = isWholeFor(context.caller, context.station)
    return rows.map((row, index) => renderRecord(fields, row, shown[index] ?? {}, isWhole))
  }

  const isWholeFor = (caller: Caller | null, station: StationRow | null) =>
    maySeeWholeAddresses(caller?.key ?? null, resource.access.write, station?.id ?? null)

  async function list(
    services: ApiServices,
    request: ApiRequest,
    station: StationRow | null,
    query: ListQuery,
    filter: object
  ): Promise<ListResult> {
    const { reads: sql } = services
    const conditions = [
      scope(sql, station),
      ...Object.entries(filter).map(([name, value]) => sql`${sql(columnOf(name))} = ${value}`),
      ...(query.search === '' ? [] : [searched(sql, query.search, isWholeFor(request.caller, station))])
    ]
    const where = conditions.reduce((all, condition) => sql`${all} and ${condition}`)
    const sort = sql(columnOf(query.sort ?? resource.order))
    const direction = query.isDescending ? sql`desc` : sql``
    return readList<StoredRecord<F>>(request, services, query, {
      select: sql`
        select ${sql.unsafe(columns)} from ${sql(table)} where ${where} order by ${sort} ${direction}, id`,
      matching: sql`select from ${sql(table)} where ${where}`,
      render: rows => render(rows, { services, station, caller: request.caller, sql })
    })
  }

  /** What a caller may not see is not searched for him: he would find it out piece by piece. */
  function searched(sql: Sql, search: string, isWhole: boolean): Fragment {
    const pattern = likePattern(search)
    const any = resource.search
      .map(name => {
        const column = sql(columnOf(name))
        return isWhole || fields[name]?.kind !== 'private address'
          ? sql`${column} ilike ${pattern}`
          : sql`${column} ilike ${pattern} and ${column} !~ ${addressPattern}`
      })
      .reduce((all, condition) => sql`${all} or ${condition}`)
    return sql`(${any})`
  }

  async function read(services: ApiServices, { caller }: ApiRequest, station: StationRow | null, id: number) {
    const row = await find(services.reads, station, id, services.reads``)
    const [record] = await render([row], { services, station, caller, sql: services.reads })
    return record
  }

  async function create(services: ApiServices, request: ApiRequest, station: StationRow | null) {
    const { values: asked, problems } = acceptBody(creation, fields, request.body, { isPartial: false })
    const { query } = request
    const early = (await rules.ahead?.({ services, station, query, id: null, values: asked })) ?? []
    const values = await sealed(services, asked)
    const reveal: Record<string, unknown> = {}
    const sent = new Set(Object.keys(values))
    const insert = async (tx: Tx) => {
      const write = { tx, change: null, services, station, before: null, values, sent, reveal }
      refuseProblems(allProblems(problems, [...early, ...((await rules.prepare?.(write)) ?? [])]))
      const row = {
        ...(isOfStation ? { station_id: station?.id } : {}),
        ...toColumns(tx, values)
      }
      const [inserted] = await tx<{ id: number }[]>`insert into ${tx(table)} ${tx(row)} returning id`
      if (!inserted) throw new Error('insert gave no row')
      return inserted.id
    }
    const follow = async (tx: Tx, change: StationChange | null, id: number) => {
      const write = { tx, change, services, station, before: null, values, sent, reveal }
      await Promise.all([
        rules.wrote?.(write, id),
        show(tx, change),
        recordAudit(tx, request, { record: resource.name, id, fields: changedFields(values, null) })
      ])
    }
    const id = await refusing(problems, async () => {
      if (isStation)
        return createStation(
          services,
          insert,
          openly(request, c => follow(c.tx, c, c.station.id))
        )
      return transact(services, request, station?.id ?? null, async (tx, change) => {
        const inserted = await insert(tx)
        await follow(tx, change, inserted)
        return inserted
      })
    })
    await committed(services, id)
    return { ...(await read(services, request, station, id)), ...reveal }
  }

  async function update(services: ApiServices, request: ApiRequest, station: StationRow | null, id: number) {
    const accepted = acceptBody(changes, fields, request.body, { isPartial: true })
    const { query } = request
    const early = (await rules.ahead?.({ services, station, query, id, values: accepted.values })) ?? []
    const asked = await sealed(services, accepted.values)
    const isChanged = await refusing(accepted.problems, () =>
      transact(services, request, stationOf(station, id), async (tx, change) => {
        // Records that refer to this one may be added meanwhile.
        const stored = await find(tx, station, id, tx`for no key update`)
        const before = await withUnstored(stored, { services, station, caller: request.caller, sql: tx })
        const sent = new Set(Object.keys(asked).filter(name => !isKept(name, asked, request.body)))
        const applied = Object.entries(asked).filter(([name]) => sent.has(name))
        const values: ValuesOf<F> = { ...changeableOf(before), ...Object.fromEntries(applied) }
        const write = { tx, change, services, station, before, values, sent, reveal: {} }
        const ofRules = [...early, ...((await rules.prepare?.(write)) ?? [])]
        refuseProblems(allProblems(accepted.problems, [...fixedProblems(values, before), ...ofRules]))
        const changed = changedFields(values, before)
        if (changed.length === 0) return false
        const row = toColumns(tx, values)
        await Promise.all([
          // Sent now, so before whatever follows from it.
          tx`update ${tx(table)} set ${tx(row)} where id = ${id}`.execute(),
          rules.wrote?.(write, id),
          show(tx, change),
          recordAudit(tx, request, { record: resource.name, id, fields: changed })
        ])
        return true
      })
    )
    if (isChanged) await committed(services, id)
  }

  async function remove(services: ApiServices, request: ApiRequest, station: StationRow | null, id: number) {
    const work = async (tx: Tx, change: StationChange | null) => {
      const before = await find(tx, station, id, tx`for update`)
      const write = { tx, change, services, station, before }
      await rules.deleting?.(write)
      if (rules.remove) await rules.remove(write)
      else await tx`delete from ${tx(table)} where id = ${id}`
      await Promise.all([
        rules.deleted?.(write),
        show(tx, change),
        recordAudit(tx, request, { record: resource.name, id })
      ])
    }
    await refusing([], () =>
      isStation
        ? beginForStation(
            services.sql,
            id,
            openly(request, (tx: Tx) => work(tx, null))
          )
        : transact(services, request, stationOf(station, id), work)
    )
    await committed(services, id)
  }

  /** `""` for a secret keeps what is stored, null clears it. */
  function isKept(name: string, asked: Readonly<Record<string, unknown>>, body: unknown): boolean {
    if (fields[name]?.kind !== 'secret' || asked[name] !== '') return false
    return !(typeof body === 'object' && body !== null && Reflect.get(body, name) === null)
  }

  /** The row with the fields that bodies have and the table has not. */
  async function withUnstored(row: StoredRecord<F>, context: RenderContext): Promise<StoredRecord<F>> {
    if (changeable.length === writable.length) return row
    const [shown = {}] = (await rules.shown?.([row], context)) ?? []
    const unstored = changeable.filter(name => !fields[name]?.isStored)
    return { ...row, ...Object.fromEntries(unstored.map(name => [name, shown[name]])) }
  }

  function changeableOf(row: StoredRecord<F>): ValuesOf<F>
  function changeableOf(row: Readonly<Record<string, unknown>>) {
    return Object.fromEntries(changeable.map(name => [name, row[name]]))
  }

  function fixedProblems(values: Readonly<Record<string, unknown>>, before: StoredRecord<F>): FieldError[] {
    return changeable
      .filter(name => fields[name]?.isFixed && !isDeepStrictEqual(values[name], before[name]))
      .map(name => ({ field: name, code: 'read_only', message: `${name} cannot be changed.` }))
  }

  function changedFields(
    values: Readonly<Record<string, unknown>>,
    before: StoredRecord<F> | null
  ): string[] {
    return changeable.filter(
      name => !isDeepStrictEqual(values[name], before?.[name] ?? fields[name]?.fallback)
    )
  }

  /** The same values with new secrets as they are kept. Before the transaction: a hash takes its time. */
  async function sealed<Values extends object>(services: ApiServices, values: Values): Promise<Values> {
    const result = { ...values }
    for (const [name, field] of Object.entries(fields)) {
      const value: unknown = Reflect.get(result, name)
      if (field.kind !== 'secret' || typeof value !== 'string' || value === '') continue
      const kept = rules.protect
        ? await rules.protect(value, services)
        : services.secrets.seal(value, sealingPurpose(table, name))
      Reflect.set(result, name, kept)
    }
    return result
  }

  function toColumns(tx: Tx, values: Readonly<Record<string, unknown>>) {
    return Object.fromEntries(writable.map(name => [columnOf(name), toColumn(tx, values[name])]))
  }

  async function show(tx: Tx, change: StationChange | null): Promise<void> {
    if (resource.shows === 'station') change?.mark(['station'])
    if (resource.shows === 'everywhere') await countSharedFact(tx)
  }

  async function committed(services: ApiServices, id: number): Promise<void> {
    await rules.committed?.(services, id)
    if (resource.shows === 'everywhere') await publishAllStations(services)
  }

  /** The station whose rows a write of a record locks; null if there is none. */
  const stationOf = (station: StationRow | null, id: number | null) => station?.id ?? (isStation ? id : null)

  /** Runs a write in a transaction: in a change of the station if the record is shown with it. */
  async function transact<Result>(
    services: ApiServices,
    request: ApiRequest,
    stationId: number | null,
    work: (tx: Tx, change: StationChange | null) => Promise<Result>
  ) {
    if (stationId === null) return services.sql.begin(openly(request, async (tx: Tx) => work(tx, null)))
    return isStation || resource.shows
      ? changeStation(
          services,
          stationId,
          openly(request, change => work(change.tx, change))
        )
      : beginForStation(
          services.sql,
          stationId,
          openly(request, tx => work(tx, null))
        )
  }

  /**
   * Throws the refusal of a write in the terms of the interface. `problems` are those of the body: with any,
   * nothing is written, and other errors matter less.
   */
  async function refusing<Result>(
    problems: readonly FieldError[],
    write: () => Promise<Result>
  ): Promise<Result> {
    try {
      return await write()
    } catch (error) {
      if (problems.length > 0 && problemsIn(error).length === 0) refuseProblems(problems)
      throw refusalOf(error, resource.unique ?? {}, isOfStation)
    }
  }

  return { list, read, create, update, remove }
}

export type Store = ReturnType<typeof openStore>

function renderRecord(
  fields: Fields,
  row: Readonly<Record<string, unknown>>,
  shown: Readonly<Record<string, unknown>>,
  isWhole: boolean
) {
  const record: Record<string, unknown> = { id: row['id'] }
  for (const [name, { kind }] of Object.entries(fields))
    record[name] = Object.hasOwn(shown, name) ? shown[name] : renderStored(kind, row[name], isWhole)
  return record
}

function renderStored(kind: Field<unknown>['kind'], value: unknown, isWhole: boolean): unknown {
  if (kind === 'secret') return ''
  return kind === 'private address' && !isWhole ? redactedLocation(String(value)) : value
}

function toColumn(tx: Tx, value: unknown) {
  if (typeof value === 'object' && value !== null) return tx.json(JSON.parse(JSON.stringify(value)))
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  return null
}

/**
 * The same work, which throws if the client has gone by the end of it: whoever was told of a failure must not
 * find it done.
 */
function openly<Given, Result>(request: ApiRequest, work: (given: Given) => Promise<Result>) {
  return async (given: Given): Promise<Result> => {
    const result = await work(given)
    if (!request.isOpen()) throw new Error('the request was aborted')
    return result
  }
}

/** Throws a 400 with every problem, if there is one. */
export function refuseProblems([first, ...others]: readonly FieldError[]): void {
  if (first) throw ApiError.ofFields([first, ...others])
}

/** What a constraint of the database says of a write, in words; any other error as it is. */
function refusalOf(error: unknown, unique: Readonly<Record<string, string>>, isOfStation: boolean): unknown {
  if (typeof error !== 'object' || error === null || !('code' in error)) return error
  const constraint = 'constraint_name' in error ? String(error.constraint_name) : ''
  const field = unique[constraint]
  if (error.code === '23505' && field !== undefined) {
    const message = `${field} is already taken.`
    return ApiError.ofFields([{ field, code: 'duplicate', message }], 'conflict')
  }
  // The station went away meanwhile.
  const isStation = constraint.endsWith('_station_id_fkey')
  if (error.code === '23503' && isOfStation && isStation) return new ApiError('not-found')
  return error
}
