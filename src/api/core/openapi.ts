import type { JsonSchema } from '../../fields/field.ts'
import { version } from '../../runtime/program-files.ts'
import { type ApiRoute, formType } from './route.ts'

const failures: Readonly<Record<number, string>> = {
  400: 'The body or the query is not valid; every problem is listed.',
  403: 'Access denied: the key is missing, wrong, expired or revoked, or lacks the right.',
  404: 'Record not found.',
  409: 'The value is taken, or the record is in use.',
  413: 'The body is too large.',
  415: 'The body is of another content type than it may be.',
  429: 'Too many requests; Retry-After says when to try again.',
  431: 'The address and the headers are longer than 32 KB together.',
  500: 'A generic exception has occurred.',
  503: 'The server cannot answer this yet: try again later.'
}

const header = (description: string, type = 'string') => ({ description, schema: { type } })
const everyAnswer = {
  'X-Request-Id': { $ref: '#/components/headers/RequestId' },
  'Access-Control-Allow-Origin': { $ref: '#/components/headers/AllowOrigin' }
}

const positionOfAnswer = {
  'X-Cuewire-Epoch': { $ref: '#/components/headers/Epoch' },
  'X-Cuewire-Offset': { $ref: '#/components/headers/Offset' }
}

const parameterDocs: Readonly<Record<string, JsonSchema>> = {
  station_id: {
    type: ['integer', 'string'],
    description: 'The id of the station, or its short name.',
    examples: [1, 'demo']
  },
  id: { type: 'integer', format: 'int64', minimum: 1, description: 'The id of the record.', examples: [1] },
  media_id: {
    type: ['integer', 'string'],
    description: 'The id of the song, or its unique id.',
    examples: [12]
  },
  key: {
    type: 'string',
    description: 'The first half of the key, the whole key, or its id.',
    examples: ['0123456789abcdef']
  },
  article_id: {
    type: 'string',
    pattern: '^[A-Za-z0-9._-]{1,64}$',
    description: 'The id of the article.',
    examples: ['we-are-moving']
  },
  delivery_id: {
    type: 'integer',
    format: 'int64',
    minimum: 1,
    description: 'The id of the delivery.',
    examples: [1]
  },
  file: { type: 'string', description: 'Any text.', examples: ['1783468800'] },
  format: { type: 'string', enum: ['m3u', 'pls'], description: 'The kind of file.' },
  notification_id: {
    type: 'string',
    format: 'uuid',
    description: 'The id of the notification.',
    examples: ['0190b1c2-6f3e-4d8a-9b7c-2f1e0d9c8b7a']
  }
}

/** The OpenAPI 3.1 document of these routes; `records` are the schemas by name. */
export function describeApi(
  routes: readonly ApiRoute[],
  records: Readonly<Record<string, JsonSchema>>,
  baseUrl: string
) {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeRoute(route) }
  }
  const tags = [...new Set(routes.map(({ operation }) => operation.tag))]
  return {
    openapi: '3.1.0',
    info: {
      title: 'Cuewire',
      version,
      description: 'What every station is playing, and everything an operator needs to steer it.',
      license: { name: 'MIT', identifier: 'MIT' }
    },
    servers: [{ url: baseUrl }],
    tags: tags.map(name => ({ name })),
    paths,
    components: {
      schemas: records,
      headers: {
        RequestId: header('Names the request in the log of the server.'),
        AllowOrigin: header('Who may read the answer in a browser.'),
        EntityTag: header('Stands for the body: it differs whenever the body does.'),
        Epoch: header('Names one lifetime of the state of the station.'),
        Offset: header('The version of the state of the station, within the epoch.', 'integer'),
        TotalCount: header('How many records match, on all pages.', 'integer'),
        IgnoredFields: header(
          'Fields of the body that are not known and have no effect, as dotted paths; at most 20, then `...`. Errors have it as well.'
        ),
        RetryAfter: header('Seconds until there is room again.', 'integer')
      },
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        bearer: { type: 'http', scheme: 'bearer' }
      }
    }
  }
}

function requirementOf(access: ApiRoute['access']): string {
  if (access === 'any key') return 'any valid key'
  if (access === 'playout key') return "the key of the station's playout"
  return `a key with the right \`${access}\``
}

function describeRoute(route: ApiRoute) {
  const { path, method, access, operation } = route
  const {
    id,
    tag,
    summary,
    query = {},
    body,
    isBodyOptional = false,
    status = 200,
    answer,
    contentTypes = ['application/json'],
    hasCsv = false,
    redirectsTo,
    isRedirect = false,
    unchanged,
    isPositioned = false
  } = operation
  const isKeyed = access !== 'public'
  const named = [...path.matchAll(/:(\w+)/g)].flatMap(([, name]) => (name === undefined ? [] : [name]))
  const parameters = [
    ...named.map(name => ({
      name,
      in: 'path',
      required: true,
      ...described(parameterDocs[name] ?? { type: 'string' })
    })),
    ...Object.entries(query).map(([name, schema]) => ({
      name,
      in: 'query',
      required: false,
      ...described(schema)
    }))
  ]
  const isList = 'page' in query
  const hasFields = (method === 'POST' || method === 'PUT') && !route.byteTypes
  const position = isPositioned ? positionOfAnswer : {}
  const entityTag = unchanged === undefined ? {} : { ETag: { $ref: '#/components/headers/EntityTag' } }
  const right = requirementOf(access)
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(isKeyed ? { description: `Needs ${right}.` } : {}),
    security: isKeyed ? [{ apiKey: [] }, { bearer: [] }] : [{}],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: { required: !isBodyOptional, content: contentOf(body, route) } } : {}),
    responses: {
      ...(isRedirect
        ? {}
        : {
            [status]: {
              description: 'Success.',
              headers: {
                ...everyAnswer,
                ...entityTag,
                ...position,
                ...(hasFields ? { 'X-Ignored-Fields': { $ref: '#/components/headers/IgnoredFields' } } : {}),
                ...(isList ? { 'X-Total-Count': { $ref: '#/components/headers/TotalCount' } } : {})
              },
              content: {
                ...Object.fromEntries(contentTypes.map(type => [type, { schema: answer }])),
                ...(hasCsv ? { 'text/csv': { schema: { type: 'string' } } } : {})
              }
            }
          }),
      ...(redirectsTo ? { 302: { description: redirectsTo, headers: everyAnswer } } : {}),
      ...(unchanged
        ? { 304: { description: unchanged, headers: { ...everyAnswer, ...entityTag, ...position } } }
        : {}),
      ...failuresOf(isKeyed, method, named, operation)
    }
  }
}

function contentOf(body: JsonSchema, { textTypes = [], takesForm = false, byteTypes }: ApiRoute) {
  if (byteTypes) return Object.fromEntries(byteTypes.map(type => [type, { schema: body }]))
  const texts = textTypes.map(type => [type, { schema: { type: 'string' } }])
  return {
    'application/json': { schema: body },
    ...(takesForm ? { [formType]: { schema: body } } : {}),
    ...Object.fromEntries(texts)
  }
}

/** A parameter's description stands beside its schema. */
function described({ description, examples: _examples, ...schema }: JsonSchema) {
  return description === undefined ? { schema } : { description, schema }
}

function failuresOf(
  isKeyed: boolean,
  method: string,
  named: readonly string[],
  { query, errors = [], redirectsTo, isRedirect = false }: ApiRoute['operation']
) {
  const isWrite = method === 'POST' || method === 'PUT'
  const statuses = new Set([
    ...(isWrite || query ? [400] : []),
    ...(isWrite ? [413, 415] : []),
    ...(isKeyed ? [403, 429] : []),
    // Losing against another write, wherever there can be one.
    ...(isKeyed && method !== 'GET' ? [409] : []),
    ...(named.length > 0 && (!redirectsTo || isRedirect) ? [404] : []),
    ...errors,
    431,
    500,
    503
  ])
  return Object.fromEntries(
    [...statuses].toSorted((a, b) => a - b).map(status => [String(status), failure(status)])
  )
}

function failure(status: number) {
  // The library that reads the request refuses it before there is anything to answer in our way.
  if (status === 431) return { description: failures[status] }
  return {
    description: failures[status] ?? 'Error',
    headers: {
      ...everyAnswer,
      ...(status === 429 || status === 503
        ? { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } }
        : {})
    },
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }
  }
}
