import { loadavg } from 'node:os'

import { renderStationObject } from '../../model/station/now-playing.ts'
import { apiRoute } from '../core/route.ts'
import { string } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { measureMachine } from './server-stats.ts'

/** A metric with its samples. Dashboards for AzuraCast know these names. */
interface Gauge {
  readonly name: string
  readonly help: string
  readonly samples: readonly (readonly [labels: Readonly<Record<string, string | number>>, value: number])[]
}

const escapeLabel = (text: string) => text.replace(/[\\"\n]/g, char => (char === '\n' ? '\\n' : `\\${char}`))

/** Renders metrics in the text format of Prometheus. */
export function renderPrometheusGauges(gauges: readonly Gauge[]): string {
  const lines = gauges.flatMap(({ name, help, samples }) => [
    `# HELP azuracast_${name} ${help}`,
    `# TYPE azuracast_${name} gauge`,
    ...samples.map(([labels, value]) => {
      const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escapeLabel(String(text))}"`)
      return `azuracast_${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}`
    })
  ])
  return `${lines.join('\n')}\n`
}

const toMebibytes = (bytes: string) => Math.round((Number(bytes) / 2 ** 20) * 100) / 100

const single = (name: string, help: string, value: number): Gauge => ({
  name: `system_${name}`,
  help,
  samples: [[{}, value]]
})

async function machineGauges({ config }: ApiServices): Promise<readonly Gauge[]> {
  const { cpu, memory, disk } = await measureMachine(config.DATA_DIR)
  const cores = Math.max(1, cpu.cores.length)
  const [one = 0, five = 0, fifteen = 0] = loadavg().map(load => load / cores)
  return [
    single('cpu_load_1min', 'Load of the last minute, as a multiple of the CPUs.', one),
    single('cpu_load_5min', 'Load of the last 5 minutes, as a multiple of the CPUs.', five),
    single('cpu_load_15min', 'Load of the last 15 minutes, as a multiple of the CPUs.', fifteen),
    single('ram_total_mbytes', 'Memory in MiB.', toMebibytes(memory.total_bytes)),
    single('ram_free_mbytes', 'Free memory in MiB.', toMebibytes(memory.free_bytes)),
    single('ram_used_mbytes', 'Used memory in MiB.', toMebibytes(memory.used_bytes)),
    single('disk_total_mbytes', 'Size of the data volume in MiB.', toMebibytes(disk.total_bytes)),
    single('disk_free_mbytes', 'Free space of the data volume in MiB.', toMebibytes(disk.free_bytes)),
    single('disk_used_mbytes', 'Used space of the data volume in MiB.', toMebibytes(disk.used_bytes))
  ]
}

function stationGauges({ live, config }: ApiServices): readonly Gauge[] {
  const stations = live.all().map(each => renderStationObject(each.read(), config.BASE_URL))
  const listed = live.all()
  const streams = stations.flatMap(
    ({ shortcode: station, mounts, remotes, hls_enabled: hasHls, hls_listeners: hls }) => [
      ...mounts.map(({ id, listeners }) => ({ station, stream_type: 'mount', stream_id: id, ...listeners })),
      ...remotes.map(({ id, listeners }) => ({
        station,
        stream_type: 'remote',
        stream_id: id,
        ...listeners
      })),
      ...(hasHls ? [{ station, stream_type: 'hls', stream_id: 0, total: hls, unique: hls }] : [])
    ]
  )
  const ofStreams = (of: 'total' | 'unique') =>
    streams.map(({ total, unique, station, stream_type, stream_id }) => {
      const labels = { station, stream_type, stream_id }
      return [labels, of === 'total' ? total : unique] as const
    })
  return [
    { name: 'active_stations', help: 'Number of stations.', samples: [[{}, stations.length]] },
    {
      name: 'station_listeners_total',
      help: 'Listeners of a station.',
      samples: listed.map(({ shortName: station, listeners }) => [{ station }, listeners] as const)
    },
    {
      name: 'station_listeners_unique',
      help: 'Distinct listeners of a station.',
      samples: listed.map(
        ({ shortName: station, uniqueListeners }) => [{ station }, uniqueListeners] as const
      )
    },
    { name: 'stream_listeners_total', help: 'Listeners of a stream.', samples: ofStreams('total') },
    { name: 'stream_listeners_unique', help: 'Distinct listeners of a stream.', samples: ofStreams('unique') }
  ]
}

export const prometheusRoute = apiRoute('GET', '/api/prometheus', 'view administration', {
  id: 'getPrometheusMetrics',
  tag: 'Status',
  summary: 'The machine of this server, and the listeners of all stations, for Prometheus',
  response: string,
  contentTypes: ['text/plain'],
  async handle(_, services) {
    const gauges = [...(await machineGauges(services)), ...stationGauges(services)]
    return {
      body: renderPrometheusGauges(gauges),
      headers: { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' }
    }
  }
})
