import { withDeadline } from '../deadline.ts'
import { scheduleDeliveries } from '../jobs.ts'
import { engineTimeMs } from '../runtime/engine-time.ts'
import type { PlayoutServices } from './services.ts'

const patienceMs = 500

/**
 * Has hooks told of what was committed. Redis may be away or stand still: nobody waits for it, what they are to be told is
 * kept, and the relay finds it.
 */
export async function tellHooks(services: PlayoutServices, webhookIds: readonly number[]): Promise<void> {
  if (webhookIds.length === 0) return
  try {
    const add = () => scheduleDeliveries(services.deliveries, webhookIds, engineTimeMs())
    await withDeadline(patienceMs, 'telling web hooks', add)
  } catch (error) {
    services.log.warn({ err: error }, 'web hooks not told yet')
  }
}
