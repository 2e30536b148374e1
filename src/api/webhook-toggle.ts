import { beginForStation } from '../db/station-transaction.ts'
import { engineTimeMs } from '../runtime/engine-time.ts'
import { incompleteConfig } from '../webhooks/config.ts'
import { cancelDeliveries } from '../webhooks/deliveries.ts'
import { hookTypeOf } from '../webhooks/hook-types.ts'
import { recordAudit } from './audit.ts'
import { refuse } from './resource-store.ts'
import { actionResult, type ApiRoute, stationOf } from './route.ts'
import { lockHook } from './webhook-row.ts'
import { forgetFailures } from './webhook-switch.ts'

const toggle: ApiRoute = {
  method: 'PUT',
  path: '/api/station/:station_id/webhook/:id/toggle',
  access: 'manage station web hooks',
  operation: {
    id: 'toggleWebhook',
    tag: 'Web hooks',
    summary:
      'Enable a disabled web hook, which forgets its failures; disable an enabled one, which ends what is pending',
    answer: { $ref: '#/components/schemas/ActionResult' }
  },
  async handle(request, { sql }) {
    const wasEnabled = await beginForStation(sql, stationOf(request).id, async tx => {
      const { id, type, config, isEnabled } = await lockHook(tx, request)
      if (!isEnabled) refuse(incompleteConfig(hookTypeOf(type), config))
      await tx`update webhooks set is_enabled = ${!isEnabled} where id = ${id}`
      if (isEnabled) await cancelDeliveries(tx, id, engineTimeMs())
      else await forgetFailures(tx, id)
      await recordAudit(tx, request, { record: 'Webhook', id, fields: ['is_enabled'] })
      return isEnabled
    })
    return actionResult(wasEnabled ? 'Web hook disabled.' : 'Web hook enabled.')
  }
}

export const webhookToggleRoutes = [toggle]
