import { startRedis } from '../../src/stores/embedded/redis.ts'
import { openStoreFolder } from './temp-folder.ts'

/** A resource that was opened for tests, with its close function. */
export interface Opened<T> {
  readonly value: T
  readonly close: () => Promise<void>
}

/** Starts a separate Redis. Returns its URL. */
export async function openRedisServer(): Promise<Opened<string>> {
  const folder = await openStoreFolder()
  const service = await startRedis(folder.path)
  const close = async () => {
    await service.stop()
    await folder[Symbol.asyncDispose]()
  }
  return { value: service.url, close }
}
