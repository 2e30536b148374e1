import type { StationChange } from '../../engine/change-station.ts'
import type { Trigger } from '../../model/station/triggers.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import { resolveAlert } from '../../stores/db/notifications.ts'
import type { Fragment, Sql, Tx } from '../../stores/db/sql.ts'
import { hookDisabledAlertKey } from '../../webhooks/deliveries/deliveries.ts'
import type { HookToRender } from '../../webhooks/deliveries/render-delivery.ts'
import { isDraftConfig } from '../../webhooks/hook-config.ts'
import { getHookType } from '../../webhooks/types/hook-types.ts'
import { parsePathId } from '../core/parse.ts'
import { type ApiRequest, getRequestStation } from '../core/route.ts'

export const webhookPath = '/api/station/:station_id/webhook/:id'
export const webhookAccess = 'manage station web hooks'
export const webhookTag = 'Web hooks'

/** A hook as it is stored. */
export interface WebhookRow extends HookToRender {
  readonly id: number
  readonly name: string
  readonly isEnabled: boolean
  readonly triggers: readonly Trigger[]
}

/** Reads the hook in the path of a request, and locks it if `lock` is a locking clause. Throws 404. */
export async function readWebhook(
  sql: Sql | Tx,
  request: ApiRequest,
  lock: Fragment = sql``
): Promise<WebhookRow> {
  const [hook] = await sql<WebhookRow[]>`
    select id, name, type, is_enabled as "isEnabled", triggers, config, former_secret as "formerSecret",
      former_secret_until_ms as "formerSecretUntilMs"
    from webhooks where id = ${parsePathId(request.params['id'])} and station_id = ${getRequestStation(request).id} ${lock}`
  if (!hook) throw new ApiError('not-found')
  return hook
}

export function lockWebhook(tx: Tx, request: ApiRequest): Promise<WebhookRow> {
  return readWebhook(tx, request, tx`for no key update`)
}

/** Throws 400 if a hook is retired or a draft, and so never sends anything. */
export function assertWebhookCanSend({ type, config }: Pick<WebhookRow, 'type' | 'config'>): void {
  if (getHookType(type).isRetired) throw new ApiError('invalid', 'The receiving service was shut down.')
  if (isDraftConfig(getHookType(type), config))
    throw new ApiError('invalid', 'The web hook is a draft: its config is empty.')
}

/** Whether a web hook is enabled and gets events of gained or lost listeners. */
export const hasListenerTriggers = (
  hook: { readonly is_enabled: boolean; readonly triggers: readonly Trigger[] } | null
): boolean =>
  hook !== null &&
  hook.is_enabled &&
  (hook.triggers.length === 0 || hook.triggers.some(trigger => listenerTriggers.has(trigger)))

const listenerTriggers: ReadonlySet<Trigger> = new Set(['listener_gained', 'listener_lost'])

/** Publishes the station, because Redis stores whether it has a web hook for gained or lost listeners. */
export const markStationForListenerHooks = ({ mark }: Pick<StationChange, 'mark'>) => mark(['station'])

/** Clears the failures of a hook that is enabled again, and its alert. */
export async function resetWebhookFailures(tx: Tx, webhookId: number): Promise<void> {
  await tx`
    update webhooks set is_auto_disabled = false, consecutive_failures = 0, failing_since_ms = null, pauses = 0,
      paused_until_ms = 0
    where id = ${webhookId}`
  await resolveAlert(tx, hookDisabledAlertKey(webhookId))
}
