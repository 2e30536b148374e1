import type { Reply } from '../../http/route.ts'
import type { JsonSchema } from '../../model/fields/field.ts'
import { pageSchemas } from '../core/list.ts'
import { json } from '../core/route.ts'
import { arrayOf, exactly } from '../core/schemas.ts'

/** The response of an account-level call: `status` and other members. */
export function successReply(members: Readonly<Record<string, unknown>> = {}): Reply {
  return json({ status: 'success', ...members })
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
