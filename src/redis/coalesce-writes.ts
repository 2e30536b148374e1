import type { Redis } from 'ioredis'

/**
 * Makes a connection write the commands of one turn of the event loop with one system call. ioredis writes each
 * command by itself, which costs as much as everything else that it does.
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
