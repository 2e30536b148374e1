import { escapeHtml } from '../errors.ts'

/** The sizes of the widget, with how high a frame has to be for each, its border included. */
export const widgetSizes = { badge: 42, card: 100, full: 720 } as const

export type WidgetSize = keyof typeof widgetSizes

export const isWidgetSize = (text: string): text is WidgetSize => Object.hasOwn(widgetSizes, text)

export const themes = ['light', 'dark', 'auto'] as const

/** The lines that put a widget on a website. `attributes` are what stands in the element beside its station. */
export function elementCode(
  baseUrl: string,
  station: string,
  attributes: Readonly<Record<string, string>>
): string {
  const script = element('script', { type: 'module', src: `${baseUrl}/widget.js` })
  return `${script}\n${element('cuewire-now-playing', { station, ...attributes })}`
}

/** A frame with a widget, for websites that allow no scripts. */
export function frameCode(
  { public_player_url: url, name }: { readonly public_player_url: string; readonly name: string },
  {
    size,
    width,
    height = widgetSizes[size]
  }: { readonly size: WidgetSize; readonly width: number; readonly height?: number }
): string {
  return element('iframe', {
    src: `${url}/embed?size=${size}`,
    width: String(width),
    height: String(height),
    title: name,
    style: 'box-sizing: border-box; border: 1px solid #8884; border-radius: 12px',
    loading: 'lazy'
  })
}

function element(name: string, attributes: Readonly<Record<string, string>>): string {
  const written = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${withoutTurns(escapeHtml(value))}"`
  )
  return `<${name}${written.join('')}></${name}>`
}

/** Characters that turn the direction of what follows, as references: the code around a name must stay readable. */
const withoutTurns = (text: string) =>
  text.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, char => `&#${char.charCodeAt(0)};`)
