import { html, nothing } from 'lit'
import { keyed } from 'lit/directives/keyed.js'

import { wakeFollowers } from '../../elements/followed-station.ts'
import { keyRefused } from '../api/call-api.ts'
import { forgetKey, keyOfTab } from '../api/key.ts'
import { readFor } from '../api/poll-resource.ts'
import { announceServerChange } from '../api/server-change.ts'
import { installationStatusView } from '../installation/installation-status-view.ts'
import { health, queues } from '../installation/installation-status.ts'
import { LightElement } from '../ui/light-element.ts'
import { type Notice, onNotice } from '../ui/notice.ts'
import { titlePage } from '../ui/page-title.ts'
import { routeFor } from '../ui/route-for.ts'
import { NoticeList } from './notice-list.ts'
import { signedIn } from './sign-in.ts'

const everyMs = 5_000
/** The server itself waits for its parts for 2 seconds. */
const timeoutMs = 4_000

/** The page: who looks, what at, and what there is to say. */
export class CuewireDashboard extends LightElement {
  readonly #route = routeFor(this, () => this.#turnTo())
  readonly #health = readFor(this, {
    schema: health,
    path: () => (keyOfTab() === '' ? 'api/health/ready' : 'api/health'),
    everyMs,
    timeoutMs
  })
  readonly #queues = readFor(this, {
    schema: queues,
    path: () => (keyOfTab() === '' ? null : 'api/queues'),
    everyMs,
    timeoutMs
  })
  /** Whether the server answered when it was asked last. */
  #isThere = true

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
      ${installationStatusView({
        health: this.#health.value,
        queues: this.#queues.value?.queues ?? [],
        silence: this.#health.trouble?.message ?? ''
      })}
      ${keyed(key, html`<main class="view" ?data-old=${!this.#isThere}>${this.#viewFor(key)}</main>`)}
      <footer class="links">
        <a href="api/docs">API</a>
      </footer>
      <notice-list></notice-list>
    `
  }

  #viewFor(key: string) {
    const { route } = this.#route
    if (route.view === 'none') return noPageView
    if (route.view === 'station' && key !== '')
      return keyed(
        route.station,
        html`<station-view
          .station=${route.station}
          .section=${route.section}
          .isOld=${!this.#isThere}
        ></station-view>`
      )
    return html`<stations-view .isOperated=${key !== ''}></stations-view>
      ${key === '' ? nothing : this.#installationView()}`
  }

  #installationView() {
    return html`<installation-view
      .health=${this.#health.value}
      .queues=${this.#queues.value?.queues ?? null}
    ></installation-view>`
  }

  protected override willUpdate(): void {
    const isThere = this.#health.trouble?.status !== 0
    if (isThere === this.#isThere) return
    this.#isThere = isThere
    announceServerChange(isThere)
    if (isThere) wakeFollowers()
  }

  protected override updated(): void {
    if (this.#route.route.view === 'none') titlePage('There is no such page')
  }

  /** As a browser does with pages: from the top, and with what is new to those who hear it. */
  #turnTo(): void {
    requestAnimationFrame(() => {
      scrollTo(0, 0)
      this.querySelector('h1')?.focus({ preventScroll: true })
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

const noPageView = html`<h1 class="headline" tabindex="-1">There is no such page</h1>
  <p><a href="#/">All stations</a></p>`
