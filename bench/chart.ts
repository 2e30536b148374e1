/** One line of a chart. */
export interface Series {
  readonly name: string
  /** Lines of the same group have the same color. */
  readonly group: number
  readonly isDashed?: boolean
  /** One value per tick of the x axis; NaN if there is none. */
  readonly values: readonly number[]
}

export interface Chart {
  readonly title: string
  readonly x: { readonly label: string; readonly ticks: readonly number[] }
  readonly y: { readonly label: string; readonly isLogarithmic: boolean }
  readonly series: readonly Series[]
}

const width = 760
const height = 420
const plot = { left: 84, right: 220, top: 48, bottom: 60 }
/** Distinguishable with color blindness, and legible on white and black. */
const colors = ['#d55e00', '#0b84c9', '#009e73', '#b070c0', '#a08000']

/** Renders a line chart as SVG. The x ticks are evenly spaced; the y axis begins at 0 or is logarithmic. */
export function renderChart({ title, x, y, series }: Chart): string {
  const values = series.flatMap(each => each.values).filter(value => Number.isFinite(value) && value > 0)
  const scale = y.isLogarithmic ? logarithmic(values) : linear(values)
  const innerWidth = width - plot.left - plot.right
  const innerHeight = height - plot.top - plot.bottom
  const xAt = (index: number) => plot.left + ((index + 0.5) * innerWidth) / x.ticks.length
  const yAt = (value: number) => plot.top + (1 - scale.fractionOf(value)) * innerHeight
  const bottom = plot.top + innerHeight
  const right = plot.left + innerWidth

  const rows = scale.ticks.flatMap(tick => [
    `<line class="grid" x1="${plot.left}" x2="${right}" y1="${round(yAt(tick))}" y2="${round(yAt(tick))}"/>`,
    `<text x="${plot.left - 8}" y="${round(yAt(tick) + 4)}" text-anchor="end">${show(tick)}</text>`
  ])
  const columns = x.ticks.map(
    (tick, index) =>
      `<text x="${round(xAt(index))}" y="${bottom + 20}" text-anchor="middle">${show(tick)}</text>`
  )
  const lines = series.map(({ group, isDashed = false, values: own }) => {
    const points = own.flatMap((value, index) =>
      Number.isFinite(value) && value > 0 ? [{ at: xAt(index), height: yAt(value) }] : []
    )
    const color = colors[group % colors.length] ?? 'currentColor'
    const path = points.map(({ at, height: h }) => `${round(at)},${round(h)}`).join(' ')
    const dash = isDashed ? ' stroke-dasharray="6 4"' : ''
    const dots = points.map(
      ({ at, height: h }) => `<circle cx="${round(at)}" cy="${round(h)}" r="3" fill="${color}"/>`
    )
    return `<polyline fill="none" stroke="${color}" stroke-width="2"${dash} points="${path}"/>${dots.join('')}`
  })
  const legend = series.map(({ name, group, isDashed = false }, index) => {
    const at = plot.top + 12 + index * 20
    const color = colors[group % colors.length] ?? 'currentColor'
    const dash = isDashed ? ' stroke-dasharray="6 4"' : ''
    return `<line x1="${right + 16}" x2="${right + 44}" y1="${at}" y2="${at}" stroke="${color}" stroke-width="2"${dash}/><text x="${right + 50}" y="${at + 4}">${escapeXml(name)}</text>`
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeXml(title)}">`,
    '<style>text{font:12px system-ui,sans-serif;fill:#333}.title{font-weight:600;font-size:15px}.grid{stroke:#888;stroke-opacity:.3}@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>',
    `<text class="title" x="${plot.left}" y="24">${escapeXml(title)}</text>`,
    ...rows,
    ...columns,
    ...lines,
    ...legend,
    `<text x="${plot.left + innerWidth / 2}" y="${height - 14}" text-anchor="middle">${escapeXml(x.label)}</text>`,
    `<text transform="translate(18 ${plot.top + innerHeight / 2}) rotate(-90)" text-anchor="middle">${escapeXml(y.label)}</text>`,
    '</svg>',
    ''
  ].join('\n')
}

interface Scale {
  readonly ticks: readonly number[]
  /** 0 at the bottom, 1 at the top. */
  readonly fractionOf: (value: number) => number
}

function linear(values: readonly number[]): Scale {
  const most = Math.max(...values, 1e-9)
  const power = 10 ** Math.floor(Math.log10(most))
  const step = [0.2, 0.5, 1, 2].map(each => each * power).find(each => most / each <= 6) ?? 2 * power
  const count = Math.ceil(most / step)
  return {
    ticks: Array.from({ length: count + 1 }, (_, index) => index * step),
    fractionOf: value => value / (count * step)
  }
}

function logarithmic(values: readonly number[]): Scale {
  const from = Math.floor(Math.log10(Math.min(...values, 1e9)))
  const to = Math.max(from + 1, Math.ceil(Math.log10(Math.max(...values, 1e-9))))
  return {
    ticks: Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index)),
    fractionOf: value => (Math.log10(value) - from) / (to - from)
  }
}

const show = (value: number) => value.toLocaleString('en-GB', { maximumSignificantDigits: 3 })
const round = (value: number) => Math.round(value * 10) / 10
const escapeXml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
