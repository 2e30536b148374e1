import { startRedis } from '../../src/embedded/redis.ts'
import { openStoreFolder } from './temp-folder.ts'

/** Something that was opened for tests, and how it is closed. */
export interface Opened<T> {
  readonly value: T
  readonly close: () => Promise<void>
}

/** A Redis of one's own; gives its URL. */
export async function openRedisServer(): Promise<Opened<string>> {
  const folder = await openStoreFolder()
  const service = await startRedis(folder.path)
  const close = async () => {
    await service.stop()
    await folder[Symbol.asyncDispose]()
  }
  return { value: service.url, close }
}
