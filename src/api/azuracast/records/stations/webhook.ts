import type { NamedValue } from '../../../../model/fields/named-values.ts'
import { int64, string } from '../../../core/schemas.ts'
import { testLogName } from '../../../webhooks/test-log.ts'
import { changeSchema, links, phpMapSchema, replaceSchema } from '../../answer-schema.ts'
import {
  isJsonBody,
  type OperationDialect,
  orNull,
  phpMap,
  type RecordDialect
} from '../../record-dialect.ts'

type WebhookRow = {
  readonly id: number
  readonly name: string
  readonly config: readonly NamedValue[]
  readonly metadata: readonly NamedValue[]
}

/** Bodies may have the config as a map in both dialects. */
export const webhook: RecordDialect<WebhookRow> = {
  answer: changeSchema({
    nullable: ['name'],
    fields: { station_id: int64, config: phpMapSchema, metadata: phpMapSchema, links }
  }),
  computed: ['station_id', 'links'],
  parse(body) {
    const { config } = body
    if (!isJsonBody(config)) return body
    const { color } = config
    // AzuraCast takes the color of a message without `#`.
    const isBare = typeof color === 'string' && /^\s*[0-9a-f]{6}\s*$/i.test(color)
    return isBare ? { ...body, config: { ...config, color: `#${color.trim()}` } } : body
  },
  render: (rows, { stationId, stationLink }) =>
    rows.map(row => ({
      ...row,
      station_id: stationId,
      name: orNull(row.name),
      config: toMap(row.config),
      metadata: toMap(row.metadata),
      links: {
        self: stationLink(`webhook/${row.id}`),
        clone: stationLink(`webhook/${row.id}/clone`),
        toggle: stationLink(`webhook/${row.id}/toggle`),
        test: stationLink(`webhook/${row.id}/test`)
      }
    }))
}

const toMap = (values: readonly NamedValue[]) =>
  phpMap(Object.fromEntries(values.map(({ key, value }) => [key, value])))

/** AzuraCast sends the test later, and answers where its log is read. */
export const testWebhook: OperationDialect = {
  answer: replaceSchema({ logUrl: string }),
  reply(_, { request, stationLink }) {
    const id = request.params['id'] ?? ''
    return { logUrl: stationLink(`webhook/${id}/test-log/${testLogName(Number(id))}`) }
  }
}
