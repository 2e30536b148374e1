import { html, nothing } from 'lit'
import { keyed } from 'lit/directives/keyed.js'

/**
 * A cover; without an address an empty frame. Its size is that of its frame, so that nothing moves. Each
 * picture is an element of its own, which fades in.
 */
export const coverView = (address: string) =>
  html`<div class="cover" part="cover">
    ${keyed(address, address === '' ? nothing : html`<img part="art" alt="" src=${address} @error=${hide} />`)}
  </div>`

function hide({ target }: Event): void {
  if (target instanceof HTMLElement) target.hidden = true
}
