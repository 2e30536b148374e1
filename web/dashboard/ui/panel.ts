import { html, nothing } from 'lit'

import type { Reading } from '../api/poll-resource.ts'
import { agoText } from './text.ts'

/** Stands where something is read: that it is not there yet, or why it is not, or that it is old. */
export function errorView({
  value,
  trouble,
  readAtMs,
  again
}: Pick<Reading<unknown>, 'value' | 'trouble' | 'readAtMs' | 'again'>) {
  if (trouble === null) return value === null ? html`<p class="quiet" aria-busy="true">…</p>` : nothing
  if (trouble.status === 403) return refusedView
  const age = value === null ? '' : ` This was read ${agoText(readAtMs / 1_000)}.`
  return html`<p class="trouble">
    ${trouble.message}${age}
    <button type="button" class="link" @click=${() => void again()}>Try again</button>
  </p>`
}

/** Stands where a key has no right to look. */
export const refusedView = html`<p class="trouble">This key may not see this.</p>`
