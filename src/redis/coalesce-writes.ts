import type { Redis } from 'ioredis'

/**
 * Makes a connection write all commands of one tick of the event loop with one system call. By itself ioredis
 * writes each command separately, which costs as much CPU as all its other work.
 */
export function coalesceWrites(redis: Redis): void {
  const send = redis.sendCommand.bind(redis)
  let corked: Redis['stream'] | null = null
  const uncork = () => {
    corked?.uncork()
    corked = null
  }
  redis.sendCommand = (...parts) => {
    // Undefined until the first connect.
    const stream: Redis['stream'] | undefined = redis.stream
    if (stream && corked === null) {
      corked = stream
      stream.cork()
      process.nextTick(uncork)
    }
    return send(...parts)
  }
}
