import { withDeadline } from '../../platform/runtime/deadline.ts'
import { probeWrites } from '../../stores/redis/shard-commands.ts'
import { apiRoute, jsonReply } from '../core/route.ts'
import { arrayOf, boolean, exactObject, string } from '../core/schemas.ts'

/** A process renews its registration every five seconds. */
const runningSeconds = 15
const probeMs = 2_000

const descriptions: Readonly<Record<string, string>> = {
  server: 'Answers requests and pushes to players',
  workers: 'Ends songs, plans queues, delivers web hooks'
}

export const serviceListRoute = apiRoute('GET', '/api/admin/services', 'view administration', {
  id: 'listServices',
  tag: 'Status',
  summary: 'The processes and stores of this installation, and whether they run',
  response: arrayOf(
    exactObject({
      name: string,
      description: string,
      running: boolean,
      links: { type: 'object', additionalProperties: string }
    })
  ),
  async handle(_, { reads: sql, redis }) {
    const [rows, hasRedis] = await Promise.all([
      sql<{ kind: string; running: number }[]>`
        select kind, count(*) filter (where seen_at > clock_timestamp() - make_interval(secs => ${runningSeconds})) as running
        from processes where kind in ('server', 'workers') and is_ready group by kind`,
      withDeadline(probeMs, 'probing Redis', () => probeWrites(redis)).then(
        () => true,
        () => false
      )
    ])
    const running = new Map(rows.map(each => [each.kind, each.running]))
    const processes = Object.entries(descriptions).map(([name, description]) => {
      const count = running.get(name) ?? 0
      return { name, description: `${description}; running: ${count}`, running: count > 0, links: {} }
    })
    const stores = [
      // This response was read from it.
      { name: 'postgres', description: 'Stores what must not be lost', running: true, links: {} },
      { name: 'redis', description: 'Holds the live state', running: hasRedis, links: {} }
    ]
    return jsonReply([...processes, ...stores])
  }
})
