import addFormats from 'ajv-formats'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'

import type { JsonBody } from '../support/program.ts'

/** An operation of the OpenAPI document. */
export interface DocumentedOperation {
  readonly id: string
  readonly method: string
  /** `/api/station/{station_id}/queue` */
  readonly path: string
  readonly description: string
  /** The content type of the body, and its schema; null without one. */
  readonly body: { readonly type: string; readonly schema: JsonBody } | null
}

export interface Received {
  readonly status: number
  readonly type: string
  /** Parsed JSON; undefined for other content. */
  readonly json: JsonBody
  readonly bytes: number
  readonly location: string
}

/** Reads an OpenAPI document. `judge` describes how an answer differs from it; empty if it does not. */
export function readDocument(document: JsonBody) {
  const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: true, verbose: true })
  addFormats.default(ajv)
  ajv.addSchema({ $id: 'doc', components: document.components })
  const compiled = new Map<string, ValidateFunction>()
  const validatorOf = ({ $ref }: { $ref: string }): ValidateFunction => {
    const known = compiled.get($ref) ?? ajv.compile({ $ref: `doc${$ref}` })
    compiled.set($ref, known)
    return known
  }
  const schemaOf = ({ $ref }: { $ref: string }) => document.components.schemas[$ref.split('/').at(-1) ?? '']
  const responses = new Map<string, JsonBody>()
  const operations: DocumentedOperation[] = []
  for (const [path, methods] of Object.entries<JsonBody>(document.paths))
    for (const [method, operation] of Object.entries<JsonBody>(methods)) {
      const [body] = Object.entries<JsonBody>(operation.requestBody?.content ?? {})
      operations.push({
        id: operation.operationId,
        method: method.toUpperCase(),
        path,
        description: operation.description ?? '',
        body: body ? { type: body[0], schema: schemaOf(body[1].schema) } : null
      })
      responses.set(operation.operationId, operation.responses)
    }

  function judge(id: string, { status, type, json, bytes }: Received): string[] {
    const response = responses.get(id)?.[status]
    if (response === undefined) return [`the status ${status} is not documented`]
    if (response.content === undefined)
      return bytes === 0 ? [] : [`${status} has a body, which is not documented`]
    const content = response.content[type.split(';')[0] ?? '']
    if (content === undefined) return [`the content type ${type} is not documented`]
    if (json === undefined) return []
    const validate = validatorOf(content.schema)
    if (validate(json)) return []
    const problems = (validate.errors ?? []).map(describe)
    return [...new Set(problems)].slice(0, 12)
  }
  return { operations, judge }
}

function describe({ instancePath, message, data, params, schemaPath }: ErrorObject): string {
  const more = params['additionalProperty'] ?? params['allowedValues'] ?? ''
  const value = JSON.stringify(data) ?? ''
  return `${instancePath.replace(/\/\d+/g, '/*')} ${message} ${more}: ${value.slice(0, 80)} (${schemaPath.slice(-60)})`
}
