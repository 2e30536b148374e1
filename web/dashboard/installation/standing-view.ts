import { html } from 'lit'

import { type Standing, troublesOf } from './standing.ts'

/** Stands above every view: nothing, or what is wrong with the installation. */
export function standingView(standing: Standing) {
  return html`<div class="standing" role="status">
    ${troublesOf(standing).map(text => html`<p class="standing-text">${text}</p>`)}
  </div>`
}
