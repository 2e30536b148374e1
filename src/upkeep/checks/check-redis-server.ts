import { Cluster } from 'ioredis'

import { withDeadline } from '../../platform/runtime/deadline.ts'
import { isDeniedByRedis, needsNewConnection, describeError } from '../../platform/runtime/store-errors.ts'
import { resolveRedisPlace } from '../../stores/redis/check-redis.ts'
import { openRedis, type RedisClient } from '../../stores/redis/connection.ts'
import { probeWrites } from '../../stores/redis/shard-commands.ts'
import { type Finding, okFinding, problemFinding, toProblemFinding, warningFinding } from './finding.ts'

const connectMs = 10_000
const fullShare = 0.9

export interface RedisCheck {
  readonly findings: readonly Finding[]
  /** The time of the first master in Unix milliseconds, and `performance.now()` when it was read. */
  readonly time: { readonly timeMs: number; readonly readAtMs: number } | null
}

/** Checks version, eviction, persistence, memory, and whether Redis takes writes. `isEmbedded`: see `resolveRedisPlace`. */
export async function checkRedisServer(
  redisUrl: string,
  options: { readonly isEmbedded: boolean }
): Promise<RedisCheck> {
  let redis: RedisClient | null = null
  try {
    redis = openRedis(await resolveRedisPlace(redisUrl, options), 'doctor')
    redis.on('error', () => {})
    const client = redis
    await withDeadline(connectMs, 'connecting to Redis', () => client.connect())
    return await readServers(client)
  } catch (error) {
    return { findings: [toProblemFinding('Redis', error, 'start Redis, or correct REDIS_URL')], time: null }
  } finally {
    redis?.disconnect()
  }
}

async function readServers(redis: RedisClient): Promise<RedisCheck> {
  const servers = redis instanceof Cluster ? redis.nodes('master') : [redis]
  const infos = await Promise.all(servers.map(server => server.info()))
  // Texts, whatever the package declares.
  const [seconds = 0, microseconds = 0] = ((await servers[0]?.time()) ?? []).map(part => Number(String(part)))
  const time = {
    timeMs: seconds * 1_000 + microseconds / 1_000,
    readAtMs: performance.now()
  }
  const refusal: unknown = await probeWrites(redis).then(
    () => null,
    (error: unknown) => error
  )
  return { findings: judge(infos, servers.length, refusal), time }
}

function adviceFor(refusal: unknown): string {
  if (isDeniedByRedis(refusal))
    return 'give the user of REDIS_URL the rules of docs/configuration.md with ACL SETUSER'
  return needsNewConnection(refusal)
    ? 'REDIS_URL leads to a node that is not the primary: let the name lead to it, or name Sentinels (redis+sentinel://)'
    : 'see its log: it is full, or cannot save'
}

function judge(infos: readonly string[], masters: number, refusal: unknown): readonly Finding[] {
  const fields = infos.map(
    text => new Map([...text.matchAll(/^(\w+):(.*?)\r?$/gm)].map(([, key = '', value = '']) => [key, value]))
  )
  const valuesOf = (key: string) => fields.map(each => each.get(key) ?? '')
  const version = valuesOf('redis_version')[0] ?? ''
  const name = masters > 1 ? `version ${version}, ${masters} masters` : `version ${version}`
  const findings: Finding[] = []
  if (refusal !== null)
    findings.push(
      problemFinding('Redis', `${name}, refuses writes (${describeError(refusal)})`, adviceFor(refusal))
    )
  const policy = valuesOf('maxmemory_policy').find(each => each !== '' && each !== 'noeviction')
  if (policy !== undefined)
    findings.push(
      problemFinding(
        'Redis',
        `${name}, maxmemory-policy ${policy}`,
        'set maxmemory-policy to noeviction: an evicted key is a lost job'
      )
    )
  const isFull = fields.some(each => {
    const limit = Number(each.get('maxmemory') ?? 0)
    return limit > 0 && Number(each.get('used_memory') ?? 0) > limit * fullShare
  })
  if (isFull)
    findings.push(problemFinding('Redis', `${name}, more than 90 % of maxmemory is used`, 'raise maxmemory'))
  if (valuesOf('aof_enabled').includes('0'))
    findings.push(
      warningFinding(
        'Redis',
        `${name}, without an append-only file`,
        'set appendonly to yes: otherwise a restart loses the counts of the last second and followers are sent all states again'
      )
    )
  return findings.length > 0 ? findings : [okFinding('Redis', `${name}, noeviction, append-only file`)]
}
