import { html, nothing } from 'lit'
import uPlot from 'uplot'

import { tableView } from '../ui/controls.ts'
import { LightElement, reactiveProperties } from '../ui/light-element.ts'
import { attachPlot, colorReader, plotStyle } from '../ui/plot.ts'
import { formatNumber } from '../ui/text.ts'
import type { ListenerGroup } from './listener-profile.ts'

/** Averages as bars before lighter bars of the peaks, and the same as a table. */
export class BarChart extends LightElement {
  static override properties = reactiveProperties<BarChart>(
    'groups',
    'title',
    'describe',
    'shorten',
    'pointIndex'
  )
  declare groups: readonly ListenerGroup[]
  /** Names a group: `Monday`. */
  declare describe: (key: string) => string
  /** The label of a group on the axis: `Mon`. */
  declare shorten: (key: string) => string
  /** The index of the group under the pointer. */
  pointIndex: number | null = null

  constructor() {
    super()
    attachPlot(this, {
      source: () => this.groups,
      toData: groups => [
        groups.map((_, index) => index),
        groups.map(({ peak }) => peak),
        groups.map(({ average }) => average)
      ],
      options: () => this.#options()
    })
  }

  protected override render() {
    const { groups, title } = this
    const rows = groups.map(
      ({ key, average, peak }) =>
        html`<tr>
          <td>${this.describe(key)}</td>
          <td class="count">${formatNumber(average)}</td>
          <td class="count">${formatNumber(peak)}</td>
        </tr>`
    )
    return html`<h3 class="chart-title">${title} <span class="quiet chart-text">${this.#readout()}</span></h3>
      <div class="chart" role="img" aria-label="${title}. ${this.#summary()}"></div>
      <i class="ink-line"></i><i class="ink-area"></i><i class="ink-text"></i><i class="ink-grid"></i>
      <details class="chart-table">
        <summary>As a table<span class="visually-hidden">: ${title}</span></summary>
        ${groups.length === 0 ? nothing : tableView(['', ['Average', 'count'], ['Peak', 'count']], rows)}
      </details>`
  }

  /** The group under the pointer, or else the one with most listeners. */
  #readout(): string {
    const group = this.pointIndex === null ? undefined : this.groups[this.pointIndex]
    return group === undefined ? this.#summary() : this.#describe(group)
  }

  #describe({ key, average, peak }: ListenerGroup): string {
    return `${this.describe(key)}: ${formatNumber(average)} on average, peak ${formatNumber(peak)}`
  }

  #summary(): string {
    const [first, ...others] = this.groups
    if (first === undefined) return ''
    const best = others.reduce((most, group) => (group.average > most.average ? group : most), first)
    return `Most: ${this.#describe(best)}`
  }

  get #longestLabel(): number {
    return Math.max(0, ...this.groups.map(({ key }) => this.shorten(key).length))
  }

  #options(): Omit<uPlot.Options, 'width' | 'legend'> {
    const { xAxis, yAxis, yScale } = plotStyle(this)
    const bars = (name: string) => ({
      fill: colorReader(this, name),
      width: 0,
      ...(barPaths === undefined ? {} : { paths: barPaths }),
      points: { show: false }
    })
    return {
      height: 150,
      padding: [8, 8, 0, 0],
      cursor: { drag: { x: false, y: false }, x: false, y: false, points: { show: false } },
      axes: [
        {
          ...xAxis,
          // The font is 12 px high; its characters are about 7 px wide.
          space: Math.max(44, 7 * this.#longestLabel + 12),
          incrs: [1, 2, 3, 4, 6, 7, 14],
          values: (_, ticks) =>
            ticks.map(index => {
              const group = this.groups[index]
              return group === undefined ? '' : this.shorten(group.key)
            })
        },
        yAxis
      ],
      scales: { x: { time: false, range: () => [-0.6, this.groups.length - 0.4] }, y: yScale },
      series: [{}, bars('area'), bars('line')],
      hooks: { setCursor: [({ cursor: { idx } }) => (this.pointIndex = idx ?? null)] }
    }
  }
}

const barPaths = uPlot.paths.bars?.({ size: [0.7, 40] })
