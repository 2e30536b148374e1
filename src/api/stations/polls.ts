import { remoteServerKindFragment, ownServerKindFragment } from '../../radio/polls/poll-rows.ts'
import { listRoute } from '../core/list-route.ts'
import { containsTextFragment } from '../core/list.ts'
import { getRequestStation } from '../core/route.ts'
import { exactObject, namedSchema, nullableInt64, string } from '../core/schemas.ts'

/** The polls of a streaming server. */
const pollSchema = namedSchema(
  'Poll',
  'The last poll of a streaming server.',
  exactObject({
    remote_id: { ...nullableInt64, description: "Null: the station's own server." },
    type: { ...string, enum: ['icecast', 'shoutcast2'] },
    url: {
      ...string,
      description:
        "Without the query, and for the station's own server without the path, which may hold a token.",
      examples: ['http://127.0.0.1:8000/']
    },
    answered_at: { ...nullableInt64, description: 'Unix seconds of the last success; null: never.' },
    failing_since: { ...nullableInt64, description: 'Unix seconds; null: the last poll succeeded.' },
    problem: { ...string, description: 'The error; empty: none.' }
  })
)

interface PollRow {
  readonly remote_id: number | null
  readonly type: string
  readonly url: string
  readonly answered_at: number | null
  readonly failing_since: number | null
  readonly problem: string
}

export const pollListRoute = listRoute('/api/station/:station_id/polls', 'view station management', {
  id: 'listPolls',
  tag: 'Listeners',
  summary: 'The polls of the streaming servers of a station, its own first',
  record: pollSchema,
  open(query, request, { reads: sql }) {
    const polls = sql`
      select p.remote_id, case when r.id is null then ${ownServerKindFragment(sql)} else ${remoteServerKindFragment(sql)} end as type,
        coalesce(substring(r.url from '^[^?#]+'), substring(s.frontend_url from '^[^/]+//[^/?#]+')) as url,
        p.answered_at_ms / 1000 as answered_at, p.failing_since_ms / 1000 as failing_since, p.problem
      from polls p join stations s on s.id = p.station_id left join remotes r on r.id = p.remote_id
      where p.station_id = ${getRequestStation(request).id}`
    const where = sql`type is not null
      ${query.search === '' ? sql`` : sql`and url ${containsTextFragment(sql, query.search)}`}`
    return {
      select: sql`select * from (${polls}) p where ${where} order by remote_id nulls first`,
      matching: sql`select from (${polls}) p where ${where}`,
      render: (found: readonly PollRow[]) => found.map(row => ({ ...row, url: new URL(row.url).href }))
    }
  }
})
