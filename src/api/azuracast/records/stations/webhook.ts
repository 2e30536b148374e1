import type { NamedValue } from '../../../../model/fields/named-values.ts'
import { int64, string } from '../../../core/schemas.ts'
import { testLogName } from '../../../webhooks/test-log.ts'
import { changeRecord, computed, shown } from '../../declare-record.ts'
import { isJsonBody, type OperationDialect, phpMap } from '../../record-dialect.ts'
import { links, phpMapSchema, replaceSchema } from '../../response-schema.ts'

type WebhookRow = {
  readonly id: number
  readonly name: string
  readonly config: readonly NamedValue[]
  readonly metadata: readonly NamedValue[]
}

/** Bodies may have the config as a map in both dialects. */
export const webhook = changeRecord<WebhookRow>({
  emptyAsNull: ['name'],
  members: {
    station_id: computed(int64, (_, { stationId }) => stationId),
    config: shown(phpMapSchema, ({ config }) => toMap(config)),
    metadata: shown(phpMapSchema, ({ metadata }) => toMap(metadata)),
    links: computed(links, ({ id }, { stationLink }) => ({
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
  phpMap(Object.fromEntries(values.map(({ key, value }) => [key, value])))

/** AzuraCast sends the test later, and answers where its log is read. */
export const testWebhook: OperationDialect = {
  response: replaceSchema({ logUrl: string }),
  reply(_, { request, stationLink }) {
    const id = request.params['id'] ?? ''
    return { logUrl: stationLink(`webhook/${id}/test-log/${testLogName(Number(id))}`) }
  }
}
