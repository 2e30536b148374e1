import { escapeHtml } from '../platform/text/escape-html.ts'

/** The sizes of the widget with the height of a frame for each in pixels, including its border. */
export const widgetHeights = { badge: 42, card: 100, full: 720 } as const

export type WidgetSize = keyof typeof widgetHeights

/** The code that puts a widget on a website. `attributes` are those of the element beside `station`. */
export function renderWidgetCode(
  baseUrl: string,
  station: string,
  attributes: Readonly<Record<string, string>>
): string {
  const script = renderElement('script', { type: 'module', src: `${baseUrl}/widget.js` })
  return `${script}\n${renderElement('cuewire-now-playing', { station, ...attributes })}`
}

/** The code of a frame with a widget, for websites that allow no scripts. */
export function renderFrameCode(
  { public_player_url: url, name }: { readonly public_player_url: string; readonly name: string },
  size: WidgetSize,
  width: number,
  height: number = widgetHeights[size]
): string {
  return renderElement('iframe', {
    src: `${url}/embed?size=${size}`,
    width: String(width),
    height: String(height),
    title: name,
    style: 'box-sizing: border-box; max-width: 100%; border: 1px solid #8884; border-radius: 12px',
    loading: 'lazy'
  })
}

function renderElement(name: string, attributes: Readonly<Record<string, string>>): string {
  const rendered = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${escapeDirection(escapeHtml(value))}"`
  )
  return `<${name}${rendered.join('')}></${name}>`
}

/** Escapes characters that change the direction of text, so that the code around a name stays readable. */
const escapeDirection = (text: string) =>
  text.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, char => `&#${char.charCodeAt(0)};`)
