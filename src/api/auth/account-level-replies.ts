import type { Reply } from '../../http/route.ts'
import type { JsonSchema } from '../../model/fields/field.ts'
import { listEnvelopeSchemas } from '../core/list.ts'
import { jsonReply } from '../core/route.ts'
import { arrayOf, exactObject } from '../core/schemas.ts'

/** The response of an account-level call: `status` and other members. */
export function accountLevelReply(members: Readonly<Record<string, unknown>> = {}): Reply {
  return jsonReply({ status: 'success', ...members })
}

const status: JsonSchema = { type: 'string', const: 'success' }

/** The schema of the response of an account-level call. */
export function accountLevelSchema(members: Readonly<Record<string, JsonSchema>> = {}): JsonSchema {
  return exactObject({ status, ...members })
}

/** The schema of the response of an account-level list. */
export function accountLevelListSchema(name: string, record: JsonSchema): JsonSchema {
  const members = exactObject({ status, ...listEnvelopeSchemas, [name]: arrayOf(record) })
  return { ...members, required: ['status', name] }
}
