import { html, nothing } from 'lit'

import type { Reading } from './reading.ts'

/** Stands where something is read: that it is not there yet, or why it is not, or that it is old. */
export function troubleView({
  value,
  trouble,
  again
}: Pick<Reading<unknown>, 'value' | 'trouble' | 'again'>) {
  if (trouble === null) return value === null ? html`<p class="quiet" aria-busy="true">…</p>` : nothing
  const text = trouble.status === 403 ? 'This key may not see this.' : trouble.message
  return html`<p class="trouble" role="status">
    ${text}
    ${
      trouble.status === 403
        ? nothing
        : html`<button type="button" class="link" @click=${() => void again()}>Try again</button>`
    }
  </p>`
}
