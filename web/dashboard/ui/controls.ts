import { html, nothing } from 'lit'

interface ButtonOptions {
  readonly style?: 'button' | 'link' | 'icon-button'
  /** Replaces the content for screen readers. */
  readonly label?: string
  readonly isBusy?: boolean
  /** Ignores clicks. The button keeps the focus, which one with `disabled` would lose. */
  readonly isDisabled?: boolean
}

/** A button. `content` is text or a template. */
export const buttonView = (
  content: unknown,
  onClick: () => unknown,
  { style = 'button', label = '', isBusy = false, isDisabled = false }: ButtonOptions = {}
) =>
  html`<button
    type="button"
    class=${style}
    aria-label=${label || nothing}
    aria-busy=${isBusy}
    aria-disabled=${isDisabled ? 'true' : nothing}
    @click=${isDisabled ? null : onClick}
  >
    ${content}
  </button>`

/** A short state and its tone: `neutral` is neither good nor bad. */
export interface Chip {
  readonly text: string
  readonly tone: 'good' | 'bad' | 'warning' | 'neutral'
}

/** The tone is a mark as well as a color. */
export const chipView = ({ text, tone }: Chip) => html`<span class="chip" data-tone=${tone}>${text}</span>`

/** A table. A column is its title, '' for buttons, or its title and CSS class; `rows` are `tr` elements. */
export const tableView = (
  columns: readonly (string | readonly [title: string, style: string])[],
  rows: unknown
) =>
  html`<table class="table">
    <thead>
      <tr>
        ${columns.map(column => {
          const [title, style] = typeof column === 'string' ? [column, ''] : column
          return title === ''
            ? html`<td class=${style}></td>`
            : html`<th scope="col" class=${style}>${title}</th>`
        })}
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`
