import type { Reply } from '../../http/route.ts'
import type { JsonSchema } from '../../model/fields/field.ts'
import { dialectVary } from '../../model/station/public-headers.ts'
import { maxUnpaged } from '../core/list.ts'
import type { ApiRequest, ApiRoute, RenderRows } from '../core/route.ts'
import type { DocumentDialect } from '../core/schema-components.ts'
import { schemaName } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { partSchemas } from './live-schemas.ts'
import {
  type DialectContext,
  isJsonBody,
  type JsonBody,
  omitConstants,
  openDialectContext,
  type RecordDialect
} from './record-dialect.ts'
import { operations, records } from './table.ts'

/**
 * The same route in both dialects. Handlers see and return the documented form only: what differs in the
 * dialect of AzuraCast is translated before and after them, as `table.ts` declares.
 */
export function withDialects(route: ApiRoute): ApiRoute {
  const { operation } = route
  const name = (operation.answer && findRecord(operation.answer)) ?? ''
  if (liveRecords.includes(name)) return withLiveDialects(route)
  const answered = records[name]
  const written = records[/^(?:create|edit)(\w+)$/.exec(operation.id)?.[1] ?? '']
  const own = operations[operation.id]
  const isList = operation.query !== undefined && 'per_page' in operation.query
  const takesRecord = operation.body !== undefined && !route.byteTypes && !route.isStreamed
  if (!answered && !written && !own && !isList)
    // AzuraCast takes records in forms as well.
    return takesRecord ? { ...route, hasDialects: true } : route

  async function translate(request: ApiRequest, services: ApiServices): Promise<Reply> {
    const context = openDialectContext(request, services)
    const query = new URLSearchParams(request.query)
    if (isList) dropUnknownSort(query, operation.query ?? {})
    own?.query?.(query)
    const parser = own?.parse ? own : written
    const isParsed = parser?.parse && isJsonBody(request.body)
    const parsed = isParsed ? await parser.parse?.(request.body, context) : request.body
    const body = isJsonBody(parsed) ? omitNullSecrets(parsed, operation.body ?? {}) : parsed
    let isRendered = false
    const renderRows: RenderRows = rows => {
      isRendered = true
      return renderAll(answered, rows, context)
    }
    const translated = {
      ...request,
      query,
      sentQuery: request.query,
      body,
      renderRows,
      // AzuraCast does not limit pages of callers that it knows.
      ...(request.caller && { maxPageSize: maxUnpaged })
    }
    const reply = await (own?.handle
      ? own.handle(translated, services, route.handle)
      : route.handle(translated, services))
    // Lists render their rows in batches.
    return isRendered ? reply : renderReply(reply, context)
  }

  async function renderReply(reply: Reply, context: DialectContext): Promise<Reply> {
    const { later } = reply
    if (later)
      return {
        ...reply,
        later: answer => later(work => answer(async () => renderReply(await work(), context)))
      }
    if (reply.value === undefined) return reply
    const rendered = await renderValue(answered, reply.value, context)
    return { ...reply, value: own?.reply ? await own.reply(rendered, context) : rendered }
  }

  return {
    ...route,
    hasDialects: true,
    ...(written && { azuracastBody: addFields(operation.body ?? {}, written) }),
    ...(written?.constants && {
      omitConstants: body => (isJsonBody(body) ? omitConstants(body, written.constants?.(body) ?? {}) : body)
    }),
    handle: async (request, services) =>
      addVary(
        request.dialect === 'azuracast'
          ? await translate(request, services)
          : await route.handle(request, services)
      )
  }
}

/** How the OpenAPI document describes this dialect, for `describeApi`. */
export const azuracastSchemas: DocumentDialect = {
  ofRecord: (name, documented) => (partSchemas[name] ?? records[name]?.answer)?.(documented) ?? documented,
  ofAnswer: (id, documented) => operations[id]?.answer?.(documented) ?? documented,
  ofBody: route => withDialects(route).azuracastBody ?? route.operation.body
}

/** The records that the feed renders in both dialects. */
const liveRecords = ['NowPlaying', 'NowPlayingEvent', 'DashboardStation']

/** Their responses have the header `Vary` already. */
function withLiveDialects(route: ApiRoute): ApiRoute {
  return {
    ...route,
    hasDialects: true,
    handle: (request, services) =>
      request.dialect === services.config.API_DIALECT
        ? route.handle(request, services)
        : route.handle(request, { ...services, live: services.live.inDialect(request.dialect) })
  }
}

/** The name of the record that a response consists of, alone, in a list or in an envelope; null for others. */
function findRecord(schema: JsonSchema): string | null {
  const name = schemaName(schema)
  if (name !== null) return name
  const { items, properties, oneOf, anyOf } = schema
  const [first]: unknown[] = Array.isArray(oneOf) ? oneOf : Array.isArray(anyOf) ? anyOf : []
  const inner = first ?? items ?? (isJsonBody(properties) ? properties['rows'] : null)
  return isJsonBody(inner) ? findRecord(inner) : null
}

/** Renders a record, a list, or an envelope with a list. */
async function renderValue(
  record: RecordDialect | undefined,
  value: unknown,
  context: DialectContext
): Promise<unknown> {
  if (record === undefined) return value
  if (Array.isArray(value)) return renderAll(record, value, context)
  if (!isJsonBody(value)) return value
  if (Array.isArray(value['rows'])) return { ...value, rows: await renderAll(record, value['rows'], context) }
  const [rendered] = await renderAll(record, [value], context)
  return rendered
}

async function renderAll(
  record: RecordDialect | undefined,
  rows: readonly unknown[],
  context: DialectContext
): Promise<readonly unknown[]> {
  const objects = rows.filter(isJsonBody)
  return record?.render && objects.length === rows.length ? record.render(objects, context) : rows
}

/** AzuraCast sorts by its default if it does not know the parameter, and pages only with a page size. */
function dropUnknownSort(query: URLSearchParams, schemas: Readonly<Record<string, JsonSchema>>): void {
  const { enum: keys } = schemas['sort'] ?? {}
  if (!Array.isArray(keys) || !keys.includes(query.get('sort'))) query.delete('sort')
  if (!/^(asc|desc)$/i.test(query.get('sortOrder') ?? '')) query.delete('sortOrder')
  if (query.has('rowCount') || query.has('per_page')) return
  query.delete('page')
  query.delete('current')
}

/** Secrets are never shown: null in a record that is sent back as it was read does not clear them. */
function omitNullSecrets(body: JsonBody, { properties }: JsonSchema): JsonBody {
  const isSecret = (name: string) => {
    const schema = isJsonBody(properties) ? properties[name] : null
    return isJsonBody(schema) && schema['writeOnly'] === true
  }
  return Object.fromEntries(Object.entries(body).filter(([name, value]) => value !== null || !isSecret(name)))
}

/** The schema of a body in the dialect. */
const addFields = (body: JsonSchema, { fields = {}, computed = [] }: RecordDialect): JsonSchema => ({
  ...body,
  properties: {
    ...(isJsonBody(body['properties']) ? body['properties'] : {}),
    ...Object.fromEntries(computed.map(name => [name, {}])),
    ...fields
  }
})

function addVary(reply: Reply): Reply {
  const { Vary: own = '' } = reply.headers ?? {}
  const names = new Set([...own.split(', '), ...dialectVary.Vary.split(', ')].filter(name => name !== ''))
  return { ...reply, headers: { ...reply.headers, Vary: [...names].join(', ') } }
}
