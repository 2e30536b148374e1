import { parse } from 'yaml'

/** A JSON value of the document. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any

export interface Schema {
  readonly [keyword: string]: Json
}

/** One operation of an OpenAPI document. */
export interface Operation {
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** `/station/{station_id}/files` */
  readonly path: string
  readonly tag: string
  readonly pathParameters: readonly string[]
  readonly body: { readonly type: string; readonly schema: Schema } | null
  readonly response: DocumentedResponse
}

/** The answer of an operation if it succeeds. */
export interface DocumentedResponse {
  readonly status: number
  /** `application/json`, `image/*`, ...; empty without content. */
  readonly type: string
  readonly schema: Schema | null
}

export interface OpenApiDocument {
  readonly version: string
  readonly operations: readonly Operation[]
  readonly schemas: Readonly<Record<string, Schema>>
}

const methods = ['get', 'post', 'put', 'delete', 'patch'] as const

/** Reads the operations and schemas of an OpenAPI document in YAML or JSON. */
export function readDocument(text: string): OpenApiDocument {
  const document: Json = parse(text)
  const resolve = (value: Json): Json =>
    typeof value?.$ref === 'string' ? resolve(findReference(document, value.$ref)) : value
  const operations = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    methods.flatMap(method => {
      const declared = item[method]
      if (!declared) return []
      return [readOperation(path, method, declared, resolve)]
    })
  )
  return { version: document.info.version, operations, schemas: document.components?.schemas ?? {} }
}

function readOperation(
  path: string,
  method: (typeof methods)[number],
  declared: Json,
  resolve: (value: Json) => Json
): Operation {
  const status = Object.keys(declared.responses).find(each => /^[23]/.test(each)) ?? '200'
  const [type = '', content] = firstEntry(resolve(declared.responses[status])?.content)
  const [bodyType = '', body] = firstEntry(resolve(declared.requestBody)?.content)
  return {
    id: declared.operationId ?? `${method} ${path}`,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    method: method.toUpperCase() as Operation['method'],
    path,
    tag: declared.tags?.[0] ?? '',
    // Some operations declare other names than their path has.
    pathParameters: [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name),
    body: bodyType === '' ? null : { type: bodyType, schema: body.schema ?? {} },
    response: { status: Number(status), type, schema: content?.schema ?? null }
  }
}

const firstEntry = (content: Json): [string?, Json?] => Object.entries<Json>(content ?? {})[0] ?? []

/** Returns what a reference within the document names; undefined if there is nothing. */
export function findReference(document: Json, reference: string): Json {
  if (!reference.startsWith('#/')) return undefined
  return reference
    .slice(2)
    .split('/')
    .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((value, part) => value?.[part], document)
}
