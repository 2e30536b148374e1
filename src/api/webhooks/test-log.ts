import { ApiError } from '../../platform/runtime/errors.ts'
import { webhookTestKey } from '../../stores/redis/keys.ts'
import { logContentsSchema } from '../broadcasting/logs.ts'
import { type ApiRoute, apiRoute, jsonReply } from '../core/route.ts'
import type { ApiServices } from '../core/services.ts'
import { webhookAccess, webhookPath, readWebhook, webhookTag } from './webhook-row.ts'

const ttlSeconds = 3_600

/** What a test sent and received, without secrets. */
interface TestResult {
  readonly message: string
  readonly sent: readonly object[]
  readonly received: object
}

/** The name of the log of the last test of a web hook, as paths contain it. */
export const webhookTestLogName = (webhookId: number): string => `webhook_test_${webhookId}`

/** Keeps the log of a test for an hour. A Redis that does not respond does not fail the test. */
export async function storeWebhookTestLog(
  { redis, log }: Pick<ApiServices, 'redis' | 'log'>,
  webhookId: number,
  { message, sent, received }: TestResult
): Promise<void> {
  const lines = [
    ...sent.map(each => `Sent: ${JSON.stringify(each)}`),
    `Received: ${JSON.stringify(received)}`,
    message
  ]
  try {
    await redis.set(webhookTestKey(webhookId), lines.join('\n'), 'EX', ttlSeconds)
  } catch (error) {
    log.warn({ err: error, webhook: webhookId }, 'log of a web hook test not stored')
  }
}

/** The documentation of AzuraCast and its code differ in the path. */
const testLogRoute = (prefix: string, id: string): ApiRoute =>
  apiRoute('GET', `${prefix}/test-log/:path`, webhookAccess, {
    id,
    tag: webhookTag,
    summary: 'The log of the last test of a web hook within an hour; the last segment is webhook_test_<id>',
    response: logContentsSchema,
    async handle(request, { reads: sql, redis }) {
      const { id: webhookId } = await readWebhook(sql, request)
      if (request.params['path'] !== webhookTestLogName(webhookId)) throw new ApiError('not-found')
      const contents = await redis.get(webhookTestKey(webhookId))
      if (contents === null)
        throw new ApiError('not-found', 'The web hook was not tested within the last hour.')
      return jsonReply({ contents, eof: true, position: null })
    }
  })

export const webhookTestLogRoutes = [
  testLogRoute(webhookPath, 'getWebhookTestLog'),
  testLogRoute('/api/station/:station_id/webhooks/:id', 'getWebhookTestLogByDocumentedPath')
]
