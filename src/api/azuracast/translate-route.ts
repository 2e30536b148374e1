import type { Reply } from '../../http/route.ts'
import type { JsonSchema } from '../../model/fields/field.ts'
import type { Dialect } from '../../model/station/dialect.ts'
import { keyVary } from '../../model/station/public-headers.ts'
import { maxUnpagedRecords } from '../core/list.ts'
import type { ApiRoute, RouteHandler, ApiOperation, RenderRows } from '../core/route.ts'
import { operationDialects, recordDialects } from './dialect-table.ts'
import {
  type DialectContext,
  isJsonBody,
  type JsonBody,
  omitConstants,
  openDialectContext,
  type OperationDialect,
  type RecordDialect
} from './record-dialect.ts'

/** What the dialect declares for a route. */
interface Declared {
  /** The record that the route answers. */
  readonly returned: RecordDialect | undefined
  /** The record that it takes. */
  readonly taken: RecordDialect | undefined
  readonly own: OperationDialect | undefined
}

/**
 * The same route with a variant for AzuraCast. Handlers see and return the documented form only: what differs is
 * translated before and after them, as `dialect-table.ts` declares for the records and the operation of the route.
 */
export function translateRoute(route: ApiRoute): ApiRoute {
  const { operation } = route
  const declared = findDeclared(operation)
  const { returned, taken, own } = declared
  if (returned?.isRenderedLive) return chooseRendering(route)
  if (returned || taken || own || isList(operation)) {
    const variant = {
      operation: describe(operation, declared),
      handle: translateHandler(route, declared),
      takesRecordForm: true,
      ...(taken?.constants && { omitConstants: openOmission(taken.constants) })
    }
    const isVarying = route.method === 'GET' || returned || taken || (own !== undefined && 'reply' in own)
    return isVarying
      ? {
          ...route,
          handle: withDialectVary(route.handle),
          variants: { azuracast: { ...variant, handle: withDialectVary(variant.handle) } }
        }
      : { ...route, variants: { azuracast: variant } }
  }
  const takesRecord = operation.body !== undefined && !route.byteTypes && !route.isStreamed
  return takesRecord
    ? { ...route, variants: { azuracast: { operation, handle: route.handle, takesRecordForm: true } } }
    : route
}

const findDeclared = ({ id, responseRecord, bodyRecord }: ApiOperation): Declared => ({
  returned: responseRecord && recordDialects[responseRecord],
  taken: bodyRecord && recordDialects[bodyRecord],
  own: operationDialects[id]
})

const isList = ({ query = {} }: ApiOperation) => 'per_page' in query

/** The operation in the dialect. */
function describe(operation: ApiOperation, { taken, own }: Declared): ApiOperation {
  const { body = {}, response } = operation
  return {
    ...operation,
    ...(taken && { body: addFields(body, taken) }),
    ...(response && own?.response && { response: own.response(response) })
  }
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

const openOmission = (constantsOf: NonNullable<RecordDialect['constants']>) => (body: unknown) =>
  isJsonBody(body) ? omitConstants(body, constantsOf(body)) : body

/** Handles requests in the dialect by the handler of the route. */
function translateHandler(route: ApiRoute, { returned, taken, own }: Declared): RouteHandler {
  const { operation } = route
  return async (request, services) => {
    const context = openDialectContext(request, services)
    const params = (await own?.params?.(context)) ?? request.params
    const query = new URLSearchParams(request.query)
    if (isList(operation)) dropUnknownSort(query, operation.query ?? {})
    own?.query?.(query)
    const parser = own?.parse ? own : taken
    const isParsed = parser?.parse && isJsonBody(request.body)
    const parsed = isParsed ? await parser.parse?.(request.body, context) : request.body
    const body = isJsonBody(parsed) ? omitNullSecrets(parsed, operation.body ?? {}) : parsed
    let isRendered = false
    const renderRows: RenderRows = rows => {
      isRendered = true
      return renderAll(returned, rows, context)
    }
    const translated = {
      ...request,
      params,
      query,
      sentQuery: request.query,
      body,
      renderRows,
      // AzuraCast does not limit pages of callers that it knows.
      ...(request.caller && { maxPageSize: maxUnpagedRecords })
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
        later: respond => later(work => respond(async () => renderReply(await work(), context)))
      }
    if (reply.value === undefined) return reply
    const rendered = await renderValue(returned, reply.value, context)
    return { ...reply, value: own?.reply ? await own.reply(rendered, context) : rendered }
  }
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

const withDialectVary =
  (handle: RouteHandler): RouteHandler =>
  async (request, services) => {
    const reply = await handle(request, services)
    const { Vary: own = '' } = reply.headers ?? {}
    const names = new Set([...own.split(', '), ...keyVary.Vary.split(', ')].filter(name => name !== ''))
    return { ...reply, headers: { ...reply.headers, Vary: [...names].join(', ') } }
  }

/** Shows a route whose record the feed renders what is rendered in the dialect. Its responses have `Vary` already. */
function chooseRendering(route: ApiRoute): ApiRoute {
  const { operation } = route
  const handleIn =
    (dialect: Dialect): RouteHandler =>
    (request, services) =>
      route.handle(
        request,
        dialect === services.config.API_DIALECT
          ? services
          : { ...services, live: services.live.renderedBy(dialect) }
      )
  return {
    ...route,
    handle: handleIn('documented'),
    variants: { azuracast: { operation, handle: handleIn('azuracast') } }
  }
}
