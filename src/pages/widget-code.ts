import { escapeHtml } from '../errors.ts'

/** The sizes of the widget, with how high a frame has to be for each. */
export const widgetSizes = { badge: 40, card: 98, full: 720 } as const

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
  { size, width }: { readonly size: WidgetSize; readonly width: number }
): string {
  return element('iframe', {
    src: `${url}/embed?size=${size}`,
    width: String(width),
    height: String(widgetSizes[size]),
    title: name,
    style: 'border: 1px solid #8884; border-radius: 12px',
    loading: 'lazy'
  })
}

function element(name: string, attributes: Readonly<Record<string, string>>): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeHtml(value)}"`)
  return `<${name}${written.join('')}></${name}>`
}
