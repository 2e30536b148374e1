import { scheduleDeliveries } from '../jobs.ts'
import type { PlayoutServices } from './services.ts'

/** Has hooks told of what was committed. Redis may be away: what they are to be told is kept, and the relay finds it. */
export async function tellHooks(services: PlayoutServices, webhookIds: readonly number[]): Promise<void> {
  if (webhookIds.length === 0) return
  try {
    await scheduleDeliveries(services.deliveries, webhookIds, Date.now())
  } catch (error) {
    services.log.warn({ err: error }, 'web hooks not told yet')
  }
}
