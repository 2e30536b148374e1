import type { NamedValue } from '../../../../model/fields/named-values.ts'
import { int64, string } from '../../../core/schemas.ts'
import { webhookTestLogName } from '../../../webhooks/test-log.ts'
import { declareChangedRecord, computedMember, shownMember } from '../../declare-record.ts'
import { isJsonBody, type OperationDialect, toPhpMap } from '../../record-dialect.ts'
import { linksSchema, phpMapSchema, schemaReplacer } from '../../response-schema.ts'

type WebhookRow = {
  readonly id: number
  readonly name: string
  readonly config: readonly NamedValue[]
  readonly metadata: readonly NamedValue[]
}

/** Bodies may have the config as a map in both dialects. */
export const webhookDialect = declareChangedRecord<WebhookRow>({
  emptyAsNull: ['name'],
  members: {
    station_id: computedMember(int64, (_, { stationId }) => stationId),
    config: shownMember(phpMapSchema, ({ config }) => toMap(config)),
    metadata: shownMember(phpMapSchema, ({ metadata }) => toMap(metadata)),
    links: computedMember(linksSchema, ({ id }, { stationLink }) => ({
      self: stationLink(`webhook/${id}`),
      clone: stationLink(`webhook/${id}/clone`),
      toggle: stationLink(`webhook/${id}/toggle`),
      test: stationLink(`webhook/${id}/test`)
    }))
  },
  parse(body) {
    const { config } = body
    if (!isJsonBody(config)) return body
    const { color } = config
    // AzuraCast takes the color of a message without `#`.
    const isBare = typeof color === 'string' && /^\s*[0-9a-f]{6}\s*$/i.test(color)
    return isBare ? { ...body, config: { ...config, color: `#${color.trim()}` } } : body
  }
})

const toMap = (values: readonly NamedValue[]) =>
  toPhpMap(Object.fromEntries(values.map(({ key, value }) => [key, value])))

/** AzuraCast sends the test later, and answers where its log is read. */
export const testWebhookDialect: OperationDialect = {
  response: schemaReplacer({ logUrl: string }),
  reply(_, { request, stationLink }) {
    const id = request.params['id'] ?? ''
    return { logUrl: stationLink(`webhook/${id}/test-log/${webhookTestLogName(Number(id))}`) }
  }
}
