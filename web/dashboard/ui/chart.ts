import type { ReactiveControllerHost } from 'lit'
import uPlot from 'uplot'

import type { ListenerSeries } from '../api/responses.ts'
import { chartDayRange, toChartColumns } from './listener-series.ts'
import { attachPlot, colorReader } from './plot.ts'

export interface ListenerChartOptions {
  /** The data, evaluated at every update of the host. */
  readonly series: () => ListenerSeries | null
  /** The rest of the options; the size, the line and the range of the time axis are added. */
  readonly options: () => Omit<uPlot.Options, 'width' | 'series' | 'legend'>
}

/** Keeps a chart of the listeners of a day below a host: see `attachPlot`. */
export function attachListenerChart(
  host: ReactiveControllerHost & Element,
  { series, options }: ListenerChartOptions
): void {
  const timeRange = () => chartDayRange(series() ?? { points: [], step: 0 }, Date.now() / 1_000)

  attachPlot(host, {
    source: series,
    toData: toChartColumns,
    options: () => {
      const given = options()
      return {
        ...given,
        scales: { ...given.scales, x: { time: true, range: timeRange } },
        series: [
          {},
          {
            stroke: colorReader(host, 'line'),
            fill: colorReader(host, 'area'),
            width: 1.5,
            ...(steps === undefined ? {} : { paths: steps }),
            points: { show: false }
          }
        ]
      }
    }
  })
}

/** Draws each value over the step that it ends. */
const steps = uPlot.paths.stepped?.({ align: -1 })
