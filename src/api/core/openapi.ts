import { formContentType } from '../../http/route.ts'
import type { JsonSchema } from '../../model/fields/field.ts'
import { version } from '../../platform/process/program-files.ts'
import { visitInTimeSlices } from '../../platform/runtime/time-slices.ts'
import type { ApiRoute } from './route.ts'
import { openSchemaCollector, type OpenApiDialect } from './schema-components.ts'
import { int64, namedSchema, schemaRef, sharedSchemas, string } from './schemas.ts'

const failures: Readonly<Record<number, string>> = {
  400: 'The body or the query is invalid; every problem is listed.',
  403: 'Access denied: the key is missing, wrong, expired or revoked, or lacks the permission.',
  404: 'Record not found.',
  408: 'The body did not arrive in time.',
  409: 'The value is taken, or the record is in use.',
  413: 'The body is too large.',
  415: 'The content type of the body is not supported.',
  429: 'Too many requests; Retry-After says when to try again.',
  431: 'The URL and the headers together are longer than 32 KB.',
  500: 'A generic exception has occurred.',
  501: 'The program cannot do this.',
  503: 'The server cannot answer this yet: try again later.'
}

const headers = {
  RequestId: header('Identifies the request in the log of the server.'),
  AllowOrigin: header('The origins that may read the response in a browser.'),
  EntityTag: header('Changes with the body.'),
  Epoch: header('Identifies one lifetime of the state of the station.'),
  Offset: header('The version of the state of the station, within the epoch.', 'integer'),
  TotalCount: header('Number of matching records on all pages.', 'integer'),
  IgnoredFields: header(
    'Unknown fields of the body, which have no effect, as dotted paths; at most 20, then `...`. Errors have it as well.'
  ),
  RetryAfter: header('Seconds until the request may succeed.', 'integer')
}

function header(description: string, type = 'string') {
  return { description, schema: { type } }
}

const refHeader = (name: keyof typeof headers) => ({ $ref: `#/components/headers/${name}` })

const commonHeaders = {
  'X-Request-Id': refHeader('RequestId'),
  'Access-Control-Allow-Origin': refHeader('AllowOrigin')
}

const sliceMs = 10

const recordId = { ...int64, minimum: 1, examples: [1] }
const idOrName = { type: ['integer', 'string'] }

const parameterSchemas: Readonly<Record<string, JsonSchema>> = {
  station_id: {
    ...idOrName,
    description: 'The id or short name of the station.',
    examples: [1, 'demo']
  },
  id: { ...recordId, description: 'The id of the record.' },
  media_id: { ...idOrName, description: 'The id or unique id of the song.', examples: [12] },
  key: { ...string, description: 'The key, its first half or its id.', examples: ['0123456789abcdef'] },
  article_id: {
    ...string,
    pattern: '^[A-Za-z0-9._-]{1,64}$',
    description: 'The id of the article.',
    examples: ['we-are-moving']
  },
  asset_type: {
    ...string,
    description: 'The picture: album_art, browser_icon or background.',
    examples: ['album_art']
  },
  asset: {
    ...string,
    description: 'The name in the URL of the picture.',
    examples: ['album_art-0123456789abcdef']
  },
  log_key: { ...string, description: 'The key of the log.', examples: ['server'] },
  delivery_id: { ...recordId, description: 'The id of the delivery.' },
  file: { ...string, description: 'Any text.', examples: ['1783468800'] },
  format: { ...string, enum: ['m3u', 'pls'], description: 'The file format.' },
  notification_id: {
    ...string,
    format: 'uuid',
    description: 'The id of the notification.',
    examples: ['0190b1c2-6f3e-4d8a-9b7c-2f1e0d9c8b7a']
  }
}

/**
 * Describes routes in an OpenAPI 3.1 document. Every body and every answer refers to a schema that has a name. One
 * without a name of its own is named after its operation, `CreatePlaylistBody` or `ListPlaylistsAnswer`: generators
 * give names that end in `Request` and `Response` to types of their own. Works in time slices. Rejects for two
 * different schemas of one name.
 */
export async function describeApi(
  routes: readonly ApiRoute[],
  baseUrl: string,
  dialect: OpenApiDialect = documentedDialect
) {
  const schemas = openSchemaCollector(sharedSchemas, dialect.changeSchema)
  const paths: Record<string, Record<string, unknown>> = {}
  await visitInTimeSlices(sliceMs, routes, route => {
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = {
      ...paths[path],
      [route.method.toLowerCase()]: describeRoute({ ...route, ...route.variants?.[dialect.name] }, schemas)
    }
  })
  const tags = [...new Set(routes.map(({ operation }) => operation.tag))]
  return {
    openapi: '3.1.0',
    info: {
      title: 'Cuewire',
      version,
      description: 'What every station is playing, and how operators control it.',
      license: { name: 'MIT', identifier: 'MIT' }
    },
    servers: [{ url: baseUrl }],
    tags: tags.map(name => ({ name })),
    paths,
    components: {
      schemas: schemas.finish(),
      headers,
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        bearer: { type: 'http', scheme: 'bearer' }
      }
    }
  }
}

const listenToken = {
  ...string,
  description: 'A listen token, for a private station; it may also be sent like an API key.'
}

function describeRoute(route: ApiRoute, schemas: Schemas) {
  const { path, access, operation } = route
  const { id, tag, summary, query = {}, body, isBodyOptional = false } = operation
  const isKeyed = access !== 'public'
  const pathNames = [...path.matchAll(/:(\w+)/g)].flatMap(([, name]) => name ?? [])
  const takesListenToken = !isKeyed && route.method === 'GET' && pathNames.includes('station_id')
  const parameters = [
    ...pathNames.map(name => describeParameter(name, 'path', parameterSchemas[name] ?? string)),
    ...Object.entries(query).map(([name, schema]) => describeParameter(name, 'query', schema)),
    ...(takesListenToken ? [describeParameter('token', 'query', listenToken)] : [])
  ]
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(isKeyed ? { description: `Requires ${describeAccess(access)}.` } : {}),
    security: isKeyed ? [{ apiKey: [] }, { bearer: [] }] : [{}],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body
      ? { requestBody: { required: !isBodyOptional, content: describeBody(body, route, schemas) } }
      : {}),
    responses: { ...describeSuccess(route, schemas), ...describeFailures(route, pathNames.length > 0) }
  }
}

function describeAccess(access: ApiRoute['access']): string {
  if (access === 'any key') return 'any valid key'
  if (access === 'playout key') return "the key of the station's playout"
  return `a key with the permission \`${access}\``
}

/** The description of a parameter is a member beside its schema. */
function describeParameter(name: string, place: 'path' | 'query', parameter: JsonSchema) {
  const { description, examples: _examples, ...schema } = parameter
  const described = description === undefined ? { schema } : { description, schema }
  return { name, in: place, required: place === 'path', ...described }
}

type Schemas = ReturnType<typeof openSchemaCollector>

/** The dialect of the operations and schemas that routes declare. */
export const documentedDialect: OpenApiDialect = {
  name: 'documented',
  changeSchema: (_, schema) => schema
}

const textFile = namedSchema('TextFile', 'The content of a text file.', string)
const csvTable = namedSchema(
  'CsvTable',
  'A table as CSV (RFC 4180); the first line has the names of the columns.',
  string
)

/** `createPlaylist` is `CreatePlaylist` in the names of schemas. */
const typeName = (id: string) => id.charAt(0).toUpperCase() + id.slice(1)

function describeBody(body: JsonSchema, route: ApiRoute, schemas: Schemas) {
  const { textTypes = [], takesForm = false, byteTypes, operation } = route
  const { id, summary } = operation
  const schema = schemas.refer(body, `${typeName(id)}Body`, `The body of \`${id}\`: ${summary}.`)
  if (byteTypes) return Object.fromEntries(byteTypes.map(type => [type, { schema }]))
  const texts = textTypes.map(type => [type, { schema: schemas.refer(textFile, '', '') }])
  return {
    'application/json': { schema },
    ...(takesForm ? { [formContentType]: { schema } } : {}),
    ...Object.fromEntries(texts)
  }
}

function describeSuccess({ method, byteTypes, operation }: ApiRoute, schemas: Schemas) {
  const {
    id,
    summary,
    query = {},
    response,
    contentTypes = ['application/json'],
    redirectsTo,
    unchanged,
    absent,
    accepted
  } = operation
  const hasFields = (method === 'POST' || method === 'PUT') && !byteTypes
  const stateHeaders = {
    ...(unchanged === undefined ? {} : { ETag: refHeader('EntityTag') }),
    ...(operation.isPositioned
      ? { 'X-Cuewire-Epoch': refHeader('Epoch'), 'X-Cuewire-Offset': refHeader('Offset') }
      : {})
  }
  const schema =
    response && schemas.refer(response, `${typeName(id)}Answer`, `The answer of \`${id}\`: ${summary}.`)
  const content = {
    ...Object.fromEntries(schema ? contentTypes.map(type => [type, { schema }]) : []),
    ...(operation.hasCsv ? { 'text/csv': { schema: schemas.refer(csvTable, '', '') } } : {})
  }
  const success = {
    description: 'Success.',
    headers: {
      ...commonHeaders,
      ...stateHeaders,
      ...(hasFields ? { 'X-Ignored-Fields': refHeader('IgnoredFields') } : {}),
      ...('page' in query ? { 'X-Total-Count': refHeader('TotalCount') } : {})
    },
    ...(schema && { content })
  }
  return {
    ...(operation.isRedirect ? {} : { [operation.status ?? 200]: success }),
    ...(accepted ? { 202: describeAccepted(accepted, schemas) } : {}),
    ...(absent ? { 204: { description: absent, headers: commonHeaders } } : {}),
    ...(redirectsTo ? { 302: { description: redirectsTo, headers: commonHeaders } } : {}),
    ...(unchanged ? { 304: { description: unchanged, headers: { ...commonHeaders, ...stateHeaders } } } : {})
  }
}

function describeAccepted(description: string, schemas: Schemas) {
  const schema = schemas.refer(schemaRef('ActionResult'), '', '')
  return {
    description,
    headers: { ...commonHeaders, 'Retry-After': refHeader('RetryAfter') },
    content: { 'application/json': { schema } }
  }
}

function describeFailures({ method, access, operation }: ApiRoute, hasPathNames: boolean) {
  const { query, errors = [], redirectsTo, isRedirect = false } = operation
  const isKeyed = access !== 'public'
  const hasBody = method === 'POST' || method === 'PUT'
  const statuses = new Set([
    ...(hasBody || query ? [400] : []),
    ...(hasBody ? [408, 413, 415] : []),
    ...(isKeyed ? [403, 429] : []),
    // A conflict with a concurrent write.
    ...(isKeyed && method !== 'GET' ? [409] : []),
    ...(hasPathNames && (!redirectsTo || isRedirect) ? [404] : []),
    ...errors,
    431,
    500,
    503
  ])
  return Object.fromEntries(
    [...statuses].toSorted((a, b) => a - b).map(status => [String(status), describeFailure(status)])
  )
}

function describeFailure(status: number) {
  // uWebSockets.js refuses these requests itself, without headers and body.
  if (status === 431) return { description: failures[status] }
  const isTemporary = status === 429 || status === 503
  return {
    description: failures[status] ?? 'Error',
    headers: { ...commonHeaders, ...(isTemporary ? { 'Retry-After': refHeader('RetryAfter') } : {}) },
    content: { 'application/json': { schema: schemaRef('Error') } }
  }
}
