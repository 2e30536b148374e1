import type { JsonSchema } from '../../fields/field.ts'
import { describePage, type ListQuery, type ListResult, pageSchemas, withElements } from '../core/list.ts'
import type { ApiRequest, Reply } from '../core/route.ts'
import { exactly } from '../core/schemas.ts'

/** The answer of an account-level call: `status`, and what there is to tell beside it. */
export function succeeded(beside: Readonly<Record<string, unknown>> = {}): Reply {
  return { body: JSON.stringify({ status: 'success', ...beside }) }
}

/**
 * A list of the account level: its records under `name`, and beside them what an envelope says where pages
 * were asked for.
 */
export function succeededList(
  name: string,
  { elements, total }: ListResult,
  list: ListQuery,
  request: ApiRequest,
  baseUrl: string
): Reply {
  const { page, headers } = describePage(total, list, request, baseUrl)
  return { body: withElements({ status: 'success', ...page }, name, elements), headers }
}

const status: JsonSchema = { type: 'string', const: 'success' }

/** The schema of such an answer. */
export function successSchema(beside: Readonly<Record<string, JsonSchema>> = {}): JsonSchema {
  return exactly({ status, ...beside })
}

/** The schema of such a list. */
export function successListSchema(name: string, record: JsonSchema): JsonSchema {
  return {
    type: 'object',
    properties: { status, ...pageSchemas, [name]: { type: 'array', items: record } },
    required: ['status', name],
    additionalProperties: false
  }
}
