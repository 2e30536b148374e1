import { html, nothing } from 'lit'
import { keyed } from 'lit/directives/keyed.js'

import { keyRefused } from './ask.ts'
import { forgetKey, keyOfTab } from './key.ts'
import { LightElement } from './light-element.ts'
import { NoticeList } from './notice-list.ts'
import { type Notice, onNotice } from './notice.ts'
import { routeFor } from './route.ts'
import { signedIn } from './sign-in.ts'

/** The page: who looks, what at, and what there is to say. */
export class CuewireDashboard extends LightElement {
  readonly #route = routeFor(this, () => this.#turnTo())

  constructor() {
    super()
    onNotice(this, notice => this.#say(notice))
    this.addEventListener(signedIn, () => this.requestUpdate())
  }

  protected override createRenderRoot(): this {
    // What the server wrote for the first sight is replaced.
    this.replaceChildren()
    return this
  }

  override connectedCallback(): void {
    super.connectedCallback()
    document.addEventListener(keyRefused, this.#lose)
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    document.removeEventListener(keyRefused, this.#lose)
  }

  protected override render() {
    const key = keyOfTab()
    return html`
      <header class="topbar">
        <a class="brand" href="#/">Cuewire</a>
        ${
          key === ''
            ? html`<sign-in></sign-in>`
            : html`<button type="button" class="link" @click=${this.#signOut}>Sign out</button>`
        }
      </header>
      ${keyed(key, html`<main class="view">${this.#viewFor(key)}</main>`)}
      <footer class="links">
        <a href="api/docs">API</a>
      </footer>
      <notice-list></notice-list>
    `
  }

  #viewFor(key: string) {
    const { route } = this.#route
    if (route.view === 'station' && key !== '')
      return keyed(
        route.station,
        html`<station-view .station=${route.station} .section=${route.section}></station-view>`
      )
    return html`<stations-view .isOperated=${key !== ''}></stations-view>
      ${key === '' ? nothing : html`<installation-view></installation-view>`}`
  }

  /** As a browser does with pages: from the top, and with what is new to those who hear it. */
  #turnTo(): void {
    requestAnimationFrame(() => {
      scrollTo(0, 0)
      const heading = this.querySelector('h1')
      heading?.focus({ preventScroll: true })
      document.title = heading === null ? 'Cuewire' : `${heading.textContent} · Cuewire`
    })
  }

  readonly #signOut = () => {
    forgetKey()
    location.hash = '#/'
    this.requestUpdate()
  }

  readonly #lose = () => {
    if (keyOfTab() === '') return
    this.#signOut()
    this.#say({ text: 'The key is not valid any more: sign in again.', isBad: true })
  }

  #say(notice: Notice): void {
    const list = this.querySelector('notice-list')
    if (list instanceof NoticeList) list.say(notice)
  }
}
