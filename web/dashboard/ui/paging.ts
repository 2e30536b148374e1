import { html, nothing } from 'lit'

import { buttonView } from './controls.ts'
import { formatNumber } from './text.ts'

interface Page {
  readonly page: number
  readonly total: number
  readonly total_pages: number
}

/** Buttons that go to the page before and after, if there is more than one. `onPage` gets its number. */
export function pagingView(page: Page | null, onPage: (page: number) => void) {
  if (page === null || page.total_pages <= 1) return nothing
  const { page: number, total_pages: pages } = page
  return html`<nav class="paging" aria-label="Pages">
    ${buttonView('Previous', () => onPage(number - 1), { isDisabled: number <= 1 })}
    <span>Page ${formatNumber(number)} of ${formatNumber(pages)}</span>
    ${buttonView('Next', () => onPage(number + 1), { isDisabled: number >= pages })}
  </nav>`
}

/** `a=1&b=x` without empty values. */
export function renderQueryString(values: Readonly<Record<string, string | number>>): string {
  const filled = Object.entries(values).filter(([, value]) => value !== '')
  return new URLSearchParams(filled.map(([name, value]) => [name, String(value)])).toString()
}
