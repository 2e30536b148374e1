import { renderScript, type ScriptStation } from '../broadcast/liquidsoap-script.ts'
import { ApiError } from '../errors.ts'
import { parseId } from './parse.ts'
import type { ApiRoute } from './route.ts'

const script: ApiRoute = {
  method: 'GET',
  path: '/api/admin/station/:id/liquidsoap',
  access: 'administer stations',
  operation: {
    id: 'getLiquidsoapScript',
    tag: 'Playout',
    summary: 'The Liquidsoap script that plays the station; it holds no secret',
    answer: { type: 'string' },
    contentTypes: ['text/plain']
  },
  async handle({ params }, { reads: sql, config }) {
    const [station] = await sql<ScriptStation[]>`
      select s.id, s.name, s.description, s.url, s.crossfade_type as "crossfadeType", s.crossfade::float8 as crossfade,
        s.frontend_url as "frontendUrl", coalesce((
          select jsonb_agg(jsonb_build_object('path', x.name, 'format', x.autodj_format, 'bitrate', x.autodj_bitrate,
            'isListed', x.is_public) order by x.id)
          from hls_streams x where x.station_id = s.id and x.enable_autodj and x.relay_url = ''), '[]') as mounts
      from stations s where s.id = ${parseId(params['id'])}`
    if (!station) throw new ApiError('not-found')
    return {
      body: renderScript(station, config.BASE_URL),
      headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' }
    }
  }
}

export const liquidsoapScriptRoutes = [script]
