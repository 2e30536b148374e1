import type { ReactiveControllerHost } from 'lit'
import uPlot from 'uplot'

import { columnsOf, dayOf } from './chart-columns.ts'
import type { Series } from './listener-series.ts'

/** A chart of listeners: what it shows, asked for at every drawing of its element, and how. */
export interface ChartWish {
  readonly series: () => Series | null
  /** The range of a day is added. */
  readonly options: () => Omit<uPlot.Options, 'width'>
}

/**
 * Keeps a chart in the element `.chart` below a host. It has the width of that, and is drawn again when that,
 * the points or the colour scheme change.
 */
export function chartFor(host: ReactiveControllerHost & Element, { series, options }: ChartWish): void {
  let plot: uPlot | null = null
  let drawn: Series | null = null
  let frame: HTMLElement | null = null
  const sizes = new ResizeObserver(fit)
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  const redraw = () => plot?.redraw(false, true)

  function fit(): void {
    const width = frame?.clientWidth ?? 0
    if (frame === null || drawn === null || width === 0) return
    if (plot === null) plot = new uPlot(optionsFor(width), columnsOf(drawn.points, drawn.step), frame)
    else if (width !== plot.width) plot.setSize({ width, height: plot.height })
  }

  function optionsFor(width: number): uPlot.Options {
    const wished = options()
    return { ...wished, width, scales: { ...wished.scales, x: { time: true, range: day } } }
  }

  function day(): [number, number] {
    return dayOf(drawn?.points ?? [], drawn?.step ?? 0, Date.now() / 1_000)
  }

  function draw(): void {
    const found = host.querySelector('.chart')
    if (frame === null && found instanceof HTMLElement) {
      frame = found
      sizes.observe(frame)
    }
    const next = series()
    if (next === null || next === drawn) return
    drawn = next
    plot?.setData(columnsOf(next.points, next.step))
    fit()
  }

  host.addController({
    hostConnected: () => {
      scheme.addEventListener('change', redraw)
      if (frame !== null) sizes.observe(frame)
    },
    hostUpdated: draw,
    hostDisconnected: () => {
      scheme.removeEventListener('change', redraw)
      sizes.disconnect()
      plot?.destroy()
      plot = null
    }
  })
}

const steps = uPlot.paths.stepped?.({ align: -1 })

/** Each value is drawn over the step that it ends. */
export const stepped = steps === undefined ? {} : { paths: steps }

/** A colour of the page, as a chart needs it: that of the element `.ink-{name}` below the host. */
export function inkOf(host: Element, name: string): () => string {
  return () => {
    const element = host.querySelector(`.ink-${name}`)
    return element === null ? 'gray' : getComputedStyle(element).color
  }
}
