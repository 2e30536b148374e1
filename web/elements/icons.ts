import { svg, html } from 'lit'

const icon = (shape: ReturnType<typeof svg>) =>
  html`<svg class="icon" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true">${shape}</svg>`

export const playIcon = icon(
  svg`<path d="M8 5.2c0-.9 1-1.5 1.8-1l10 6.3c.8.5.8 1.5 0 2l-10 6.3c-.8.5-1.8 0-1.8-1z" transform="translate(-1 .5)" />`
)
export const stopIcon = icon(svg`<rect x="6" y="6" width="12" height="12" rx="2" />`)
export const volumeIcon = icon(
  svg`<path d="M4 9.5v5h3.5l4.5 4V5.5l-4.5 4z" /><path d="M15.5 9a4 4 0 0 1 0 6M18 6.5a7.5 7.5 0 0 1 0 11" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" />`
)
