import { expect, test } from 'vitest'

import { renderPrometheusGauges } from '../../../src/api/admin/prometheus.ts'

test('metrics are rendered in the text format, with escaped labels', () => {
  const text = renderPrometheusGauges([
    { name: 'active_stations', help: 'Number of stations.', samples: [[{}, 2]] },
    { name: 'station_listeners_total', help: 'Listeners.', samples: [[{ station: 'a"b\\c\nd' }, 7]] }
  ])
  expect(text).toBe(`# HELP azuracast_active_stations Number of stations.
# TYPE azuracast_active_stations gauge
azuracast_active_stations 2
# HELP azuracast_station_listeners_total Listeners.
# TYPE azuracast_station_listeners_total gauge
azuracast_station_listeners_total{station="a\\"b\\\\c\\nd"} 7
`)
})
