import { remoteServerKind, stationServerKind } from '../../broadcast/polls/poll-rows.ts'
import { likePattern, listParameters, listReply, listSchema, parseListQuery, readList } from '../core/list.ts'
import { type ApiRoute, stationOf } from '../core/route.ts'
import { exactly } from '../core/schemas.ts'

interface Poll {
  readonly remote_id: number | null
  readonly type: string
  readonly url: string
  readonly answered_at: number | null
  readonly failing_since: number | null
  readonly problem: string
}

const maybeWhole = { type: ['integer', 'null'], format: 'int64' }

/** The schema of how asking a streaming server goes. */
export const pollSchema = exactly({
  remote_id: { ...maybeWhole, description: "Null: the station's own server." },
  type: { type: 'string', enum: ['icecast', 'shoutcast2'] },
  url: {
    type: 'string',
    description:
      "Without its query, and without the path of the station's own server: they may hold a token.",
    examples: ['http://127.0.0.1:8000/']
  },
  answered_at: {
    ...maybeWhole,
    description: 'Unix seconds of the last good answer; null: there was none yet.'
  },
  failing_since: { ...maybeWhole, description: 'Unix seconds; null: the last answer was good.' },
  problem: { type: 'string', description: 'What is wrong, in a sentence; empty: nothing.' }
})

const list: ApiRoute = {
  method: 'GET',
  path: '/api/station/:station_id/polls',
  access: 'view station management',
  operation: {
    id: 'listPolls',
    tag: 'Listeners',
    summary: 'How asking the streaming servers of a station goes, its own first',
    query: listParameters([]),
    answer: listSchema({ $ref: '#/components/schemas/Poll' })
  },
  async handle(request, services) {
    const { reads: sql, config } = services
    const query = parseListQuery(request.query, [])
    const polls = sql`
      select p.remote_id, case when r.id is null then ${stationServerKind(sql)} else ${remoteServerKind(sql)} end as type,
        coalesce(substring(r.url from '^[^?#]+'), substring(s.frontend_url from '^[^/]+//[^/?#]+')) as url, p.answered_at_ms / 1000 as answered_at,
        p.failing_since_ms / 1000 as failing_since, p.problem
      from polls p join stations s on s.id = p.station_id left join remotes r on r.id = p.remote_id
      where p.station_id = ${stationOf(request).id}`
    const where = sql`type is not null
      ${query.search === '' ? sql`` : sql`and url ilike ${likePattern(query.search)}`}`
    const rows = await readList<Poll>(request, services, query, {
      select: sql`select * from (${polls}) p where ${where} order by remote_id nulls first`,
      matching: sql`select from (${polls}) p where ${where}`,
      render: some => some.map(row => ({ ...row, url: new URL(row.url).href }))
    })
    return listReply(rows, query, request, config.BASE_URL)
  }
}

export const pollRoutes = [list]
