import { escapeHtml } from '../errors.ts'

/** Text that is HTML already. */
export interface Html {
  readonly html: string
}

/** What may stand in a template: text is escaped, HTML is not, null is left out. */
export type Shown = string | number | Html | readonly Html[] | null

/** Writes HTML; whatever is put in is text, in elements and in quoted attributes, unless it is HTML itself. */
export function html(texts: TemplateStringsArray, ...values: readonly Shown[]): Html {
  return { html: String.raw({ raw: texts }, ...values.map(render)) }
}

function render(value: Shown): string {
  if (value === null) return ''
  if (typeof value === 'string') return escapeHtml(value)
  if (typeof value === 'number') return String(value)
  return 'html' in value ? value.html : value.map(each => each.html).join('')
}

/** Data for a script, as an element that nothing executes. Its text cannot end the element. */
export function dataElement(id: string, json: string): Html {
  const inside: Html = { html: json.replaceAll('<', '\\u003c') }
  return html`<script type="application/json" id="${id}">
    ${inside}
  </script>`
}
