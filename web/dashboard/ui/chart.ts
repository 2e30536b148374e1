import type { ReactiveControllerHost } from 'lit'
import uPlot from 'uplot'

import { dayRange, type ListenerSeries, toChartColumns } from './listener-series.ts'

export interface ChartOptions {
  /** The data, evaluated at every update of the host. */
  readonly series: () => ListenerSeries | null
  /** The rest of the options; the size, the line and the range of the time axis are added. */
  readonly options: () => Omit<uPlot.Options, 'width' | 'series' | 'legend'>
}

/**
 * Keeps a chart of listeners in the element `.chart` below a host, which must not be replaced. It is drawn
 * again when the width of that element, the data or the color scheme changes.
 */
export function attachChart(host: ReactiveControllerHost & Element, { series, options }: ChartOptions): void {
  let plot: uPlot | null = null
  let drawn: ListenerSeries | null = null
  let frame: HTMLElement | null = null
  const resizes = new ResizeObserver(fit)
  const colorScheme = matchMedia('(prefers-color-scheme: dark)')
  const redraw = () => plot?.redraw(false, true)

  function fit(): void {
    const width = frame?.clientWidth ?? 0
    if (frame === null || drawn === null || width === 0) return
    if (plot === null) plot = new uPlot(plotOptions(width), toChartColumns(drawn), frame)
    else if (width !== plot.width) plot.setSize({ width, height: plot.height })
  }

  const timeRange = () => dayRange(drawn ?? { points: [], step: 0 }, Date.now() / 1_000)

  function plotOptions(width: number): uPlot.Options {
    const given = options()
    return {
      ...given,
      width,
      legend: { show: false },
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

  function draw(): void {
    const found = host.querySelector('.chart')
    if (frame === null && found instanceof HTMLElement) {
      frame = found
      resizes.observe(frame)
    }
    const next = series()
    if (next === null || next === drawn) return
    drawn = next
    plot?.setData(toChartColumns(next))
    fit()
  }

  host.addController({
    hostConnected: () => {
      colorScheme.addEventListener('change', redraw)
      if (frame !== null) resizes.observe(frame)
    },
    hostUpdated: draw,
    hostDisconnected: () => {
      colorScheme.removeEventListener('change', redraw)
      resizes.disconnect()
      plot?.destroy()
      plot = null
    }
  })
}

/** Draws each value over the step that it ends. */
const steps = uPlot.paths.stepped?.({ align: -1 })

/** Reads a color of the page from the element `.ink-{name}` below the host. */
export const colorReader = (host: Element, name: string) => (): string => {
  const element = host.querySelector(`.ink-${name}`)
  return element === null ? 'gray' : getComputedStyle(element).color
}
