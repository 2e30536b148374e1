import { html, nothing } from 'lit'
import { keyed } from 'lit/directives/keyed.js'

/**
 * A cover, or an empty frame without an address. The frame sets the size, so that loading moves nothing. Each
 * cover is a new element, which fades in.
 */
export const coverView = (address: string) =>
  html`<div class="cover" part="cover">
    ${keyed(address, address === '' ? nothing : html`<img part="art" alt="" src=${address} @error=${hide} />`)}
  </div>`

function hide({ target }: Event): void {
  if (target instanceof HTMLElement) target.hidden = true
}
