import { html, nothing, type PropertyValues } from 'lit'

import { callApi } from '../api/call-api.ts'
import { buttonView } from '../ui/controls.ts'
import { LightElement, reactiveProperties } from '../ui/light-element.ts'
import type { DashboardView } from '../views.ts'

/** Names the view for which the page was reloaded, so that it is reloaded once. */
const reloadedKey = 'cuewire-reloaded'

/**
 * Shows the page of a view, and loads its module first. The files of a view have the names of one release:
 * if they are missing although the server responds, the page is reloaded once to get the files of its release.
 */
export class ViewLoader extends LightElement {
  static override properties = reactiveProperties<ViewLoader>('view', 'page', 'hasFailed')
  declare view: DashboardView
  /** The properties that are set on the element of the view. */
  declare page: object
  hasFailed = false
  #element: HTMLElement | null = null

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('view')) this.#open()
    if (this.#element !== null) Object.assign(this.#element, this.page)
  }

  protected override render() {
    if (this.hasFailed)
      return html`<p class="trouble" role="alert">
        This view could not be loaded: the server cannot be reached, or another version was installed.
        ${buttonView('Try again', () => this.#open(), { style: 'link' })}
        ${buttonView('Reload the page', () => location.reload(), { style: 'link' })}
      </p>`
    return this.#element ?? (this.view.load === undefined ? nothing : loadingView)
  }

  #open(): void {
    const { load, element } = this.view
    this.hasFailed = false
    this.#element = null
    if (load === undefined || customElements.get(element) !== undefined) this.#show()
    else void this.#load(load)
  }

  async #load(load: () => Promise<unknown>): Promise<void> {
    const { view } = this
    try {
      await load()
      sessionStorage.removeItem(reloadedKey)
      if (view === this.view) this.#show()
    } catch {
      if (sessionStorage.getItem(reloadedKey) !== view.element && (await isServerAvailable())) {
        sessionStorage.setItem(reloadedKey, view.element)
        return location.reload()
      }
      if (view === this.view) this.hasFailed = true
    }
  }

  #show(): void {
    this.#element = document.createElement(this.view.element)
    this.requestUpdate()
  }
}

const loadingView = html`<p class="quiet" aria-busy="true">…</p>`

const isServerAvailable = (): Promise<boolean> =>
  callApi('GET', 'api/health/ready').then(
    () => true,
    () => false
  )
