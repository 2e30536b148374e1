import type { JsonSchema } from '../../fields/field.ts'
import { describePage, type ListQuery, type ListResult, pageSchemas, withElements } from '../core/list.ts'
import { type ApiRequest, json, type Reply } from '../core/route.ts'
import { arrayOf, exactly } from '../core/schemas.ts'

/** The response of an account-level call: `status` and other members. */
export function succeeded(members: Readonly<Record<string, unknown>> = {}): Reply {
  return json({ status: 'success', ...members })
}

/** The response of an account-level list: its records under `name`, beside the envelope of a page. */
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

/** The schema of the response of an account-level call. */
export function successSchema(members: Readonly<Record<string, JsonSchema>> = {}): JsonSchema {
  return exactly({ status, ...members })
}

/** The schema of the response of an account-level list. */
export function successListSchema(name: string, record: JsonSchema): JsonSchema {
  const members = exactly({ status, ...pageSchemas, [name]: arrayOf(record) })
  return { ...members, required: ['status', name] }
}
