import type { ReactiveControllerHost } from 'lit'
import uPlot from 'uplot'

interface PlotOptions<Source extends object> {
  /** What is drawn, evaluated at every update of the host. Another object is drawn again. */
  readonly source: () => Source | null
  readonly toData: (source: Source) => uPlot.AlignedData
  /** The options of uPlot for a source. */
  readonly options: (source: Source) => Omit<uPlot.Options, 'width' | 'legend'>
}

/**
 * Keeps a plot in the element `.chart` below a host, which must not be replaced. It is drawn again when the width of
 * that element, the data or the color scheme changes.
 */
export function attachPlot<Source extends object>(
  host: ReactiveControllerHost & Element,
  { source, toData, options }: PlotOptions<Source>
): void {
  let plot: uPlot | null = null
  let drawn: Source | null = null
  let frame: HTMLElement | null = null
  const resizes = new ResizeObserver(fit)
  const colorScheme = matchMedia('(prefers-color-scheme: dark)')
  const redraw = () => plot?.redraw(false, true)

  function fit(): void {
    const width = frame?.clientWidth ?? 0
    if (frame === null || drawn === null || width === 0) return
    if (plot === null)
      plot = new uPlot({ ...options(drawn), width, legend: { show: false } }, toData(drawn), frame)
    else if (width !== plot.width) plot.setSize({ width, height: plot.height })
  }

  function draw(): void {
    const found = host.querySelector('.chart')
    if (frame === null && found instanceof HTMLElement) {
      frame = found
      resizes.observe(frame)
    }
    const next = source()
    if (next === null || next === drawn) return
    drawn = next
    plot?.setData(toData(next))
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

/** Reads a color of the page from the element `.ink-{name}` below the host. */
export const colorReader = (host: Element, name: string) => (): string => {
  const element = host.querySelector(`.ink-${name}`)
  return element === null ? 'gray' : getComputedStyle(element).color
}

/** The axes of a plot in the colors and the font of the page. Counts are whole numbers from 0. */
export function plotStyle(host: Element) {
  const { fontFamily } = getComputedStyle(host)
  const axis = {
    stroke: colorReader(host, 'text'),
    font: `12px ${fontFamily}`,
    ticks: { show: false },
    border: { show: false }
  }
  return {
    xAxis: { ...axis, grid: { show: false }, size: 28 } satisfies uPlot.Axis,
    yAxis: {
      ...axis,
      size: (_, ticks) => 12 + 7 * Math.max(3, ...(ticks ?? []).map(text => text.length)),
      space: 40,
      incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 100_000],
      grid: { stroke: colorReader(host, 'grid'), width: 1 }
    } satisfies uPlot.Axis,
    yScale: {
      range: (_: uPlot, __: number, most: number): [number, number] => [0, Math.max(5, Math.ceil(most * 1.1))]
    }
  }
}
