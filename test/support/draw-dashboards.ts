import { startBrowser } from './browser.ts'
import { type DashboardPanel, readDashboards } from './operations.ts'
import { savePicture, showWhole } from './pictures.ts'
import type { Prometheus, Series } from './prometheus.ts'

/*
 * Draws the dashboards of `ops/grafana` with what a Prometheus answers to their queries. Grafana itself is not needed,
 * so colors and axes differ from what it shows.
 */

const width = 1_200
/** Pixels of a unit of height of Grafana, and the columns of its grid. */
const rowPixels = 34
const columns = 24

/**
 * Saves a picture of each dashboard, with the last `forSeconds` seconds. `prepare` replaces the variables of a query.
 */
export async function drawDashboards(
  prometheus: Prometheus,
  forSeconds: number,
  prepare: (expr: string) => string
): Promise<void> {
  const browser = await startBrowser()
  try {
    const page = await browser.newPage({ viewport: { width: width + 40, height: 800 } })
    for (const { name, title, panels } of readDashboards()) {
      const drawn = await Promise.all(
        panels.map(async panel => ({
          ...panel,
          lines: await readLines(prometheus, forSeconds, prepare, panel)
        }))
      )
      await page.setContent(renderPage(title, drawn, forSeconds))
      await showWhole(page)
      await savePicture(page, `monitoring-${name}`)
    }
  } finally {
    await browser.close()
  }
}

interface Line {
  readonly legend: string
  readonly points: Series['points']
}

async function readLines(
  prometheus: Prometheus,
  forSeconds: number,
  prepare: (expr: string) => string,
  { targets }: DashboardPanel
): Promise<Line[]> {
  const lines = await Promise.all(
    targets.map(async ({ expr, legendFormat }) =>
      (await prometheus.range(prepare(expr), forSeconds)).map(({ labels, points }) => ({
        legend: legendFormat.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => labels[label] ?? ''),
        points
      }))
    )
  )
  return lines.flat()
}

const style = `
  body { margin: 20px; font: 13px system-ui, sans-serif; color: #1f2933; background: #f4f5f7 }
  h1 { font-size: 18px; margin: 0 0 12px }
  main { position: relative }
  section { position: absolute; box-sizing: border-box; padding: 8px 10px; background: #fff; border: 1px solid #dde1e6; border-radius: 4px }
  h2 { font-size: 13px; margin: 0 0 4px }
  svg { display: block; margin-top: 10px; overflow: visible; font-size: 11px; fill: #5b6770 }
  polyline { fill: none; stroke-width: 1.5 }
  line { stroke: #e4e7eb }
  .stats { display: flex; gap: 24px; justify-content: center; padding-top: 14px; font-size: 26px }
  .stats small { display: block; font-size: 12px; color: #5b6770 }
  ul { list-style: none; margin: 4px 0 0; padding: 0; font-size: 11px; white-space: nowrap; overflow: hidden; text-overflow: ellipsis }
  li { display: inline; margin-right: 10px }`

interface DrawnPanel extends DashboardPanel {
  readonly lines: readonly Line[]
}

function renderPage(title: string, panels: readonly DrawnPanel[], forSeconds: number): string {
  const height = Math.max(...panels.map(({ place }) => place.y + place.h)) * rowPixels
  const sections = panels.map(panel => {
    const { x, y, w, h } = panel.place
    const box = { width: (w / columns) * width - 8, height: h * rowPixels - 8 }
    const content = panel.type === 'stat' ? renderStats(panel) : renderChart(panel, box, forSeconds)
    return `<section style="left:${(x / columns) * width}px;top:${y * rowPixels}px;width:${box.width}px;height:${box.height}px">
      <h2>${escape(panel.title)}</h2>${content}</section>`
  })
  return `<!doctype html><meta charset="utf-8"><style>${style}</style><h1>${escape(title)}</h1>
    <main style="height:${height}px">${sections.join('')}</main>`
}

function renderStats({ lines, unit }: DrawnPanel): string {
  const values = lines.map(({ legend, points }) => {
    const last = points.at(-1)
    return `<div>${last ? format(last[1], unit) : ''}<small>${escape(legend)}</small></div>`
  })
  return `<div class="stats">${values.join('')}</div>`
}

interface Box {
  readonly width: number
  readonly height: number
}

function renderChart({ lines, unit }: DrawnPanel, box: Box, forSeconds: number): string {
  const left = 64
  const plot = { width: box.width - left - 24, height: box.height - 80 }
  const points = lines.flatMap(line => line.points)
  const start = Math.max(...points.map(([at]) => at)) - forSeconds
  const top = Math.max(...points.map(([, value]) => value)) * 1.1 || 1
  const xOf = (at: number) => left + ((at - start) / forSeconds) * plot.width
  const yOf = (value: number) => plot.height * (1 - value / top)
  const grid = [0, 0.25, 0.5, 0.75, 1].map(share => {
    const y = yOf(share * top)
    return `<line x1="${left}" x2="${left + plot.width}" y1="${y}" y2="${y}"/>
      <text x="${left - 6}" y="${y + 4}" text-anchor="end">${format(share * top, unit)}</text>`
  })
  const drawn = lines.map((line, index) => {
    const path = line.points.map(([at, value]) => `${xOf(at).toFixed(1)},${yOf(value).toFixed(1)}`)
    return `<polyline stroke="${colorOf(index)}" points="${path.join(' ')}"/>`
  })
  const legends = lines.map(
    ({ legend }, index) => `<li><span style="color:${colorOf(index)}">■</span> ${escape(legend)}</li>`
  )
  return `<svg width="${box.width - 24}" height="${plot.height + 6}">${grid.join('')}${drawn.join('')}</svg>
    <ul>${legends.join('')}</ul>`
}

const colors = [
  '#2563eb',
  '#d97706',
  '#059669',
  '#dc2626',
  '#7c3aed',
  '#0891b2',
  '#be185d',
  '#4d7c0f',
  '#475569'
]
const colorOf = (index: number) => colors[index % colors.length] ?? ''

/** Renders a value in the units of the dashboards. */
function format(value: number, unit: string): string {
  const short = (each: number) => String(Number(each.toPrecision(3)))
  if (unit === 's') return value > 0 && value < 1 ? `${short(value * 1_000)} ms` : `${short(value)} s`
  if (unit === 'percentunit') return `${short(value * 100)} %`
  if (unit === 'bytes' || unit === 'Bps')
    return value >= 1e6 ? `${short(value / 1e6)} MB` : `${short(value / 1e3)} kB`
  return short(value)
}

const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
