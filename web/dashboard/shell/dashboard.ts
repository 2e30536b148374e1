import { html } from 'lit'
import { keyed } from 'lit/directives/keyed.js'

import { wakeFollowers } from '../../elements/followed-station.ts'
import { toApiRequestError } from '../api/api-error.ts'
import {
  adoptStoredUser,
  callApi,
  currentCaller,
  currentApiKey,
  isOtherUserStored,
  keyRejectedEvent,
  sessionResumedEvent,
  storeTabApiKey,
  storeSignedInUser,
  watchStoredUser
} from '../api/call-api.ts'
import { watchPermissions } from '../api/permissions.ts'
import { pollResource, serverAvailabilityEvent } from '../api/poll-resource.ts'
import { installationStatusView } from '../installation/installation-status.ts'
import { showNotice, showErrorNotice } from '../ui/actions.ts'
import { buttonView } from '../ui/controls.ts'
import { LightElement, setPageTitle } from '../ui/light-element.ts'
import { type DashboardRoute, isSameSection, keepsFormOpen, parseDashboardRoute } from '../ui/route.ts'
import { hasUnsavedChanges, mayDiscardChanges, viewChangedEvent } from '../ui/unsaved-changes.ts'
import { installationViews, joinView, stationViews, type DashboardView } from '../views.ts'
import { SignIn, signedInEvent } from './sign-in.ts'

const intervalMs = 5_000
/** The health check of the server takes up to 2 seconds. */
const timeoutMs = 4_000

/** The page: header, installation status, the view of the route, notices. */
export class CuewireDashboard extends LightElement {
  #hash = location.hash
  #route = parseDashboardRoute(location.hash)
  readonly #permissions = watchPermissions(this, () => '')
  readonly #health = pollResource(this, {
    path: () => (currentCaller() === '' ? 'api/health/ready' : 'api/health'),
    intervalMs,
    timeoutMs
  })
  readonly #queues = pollResource(this, {
    path: () => (this.#permissions.allows('viewInstallation') ? 'api/queues' : null),
    intervalMs,
    timeoutMs
  })
  #isServerAvailable = true
  /** Whose page is shown. It stays while a page has unsaved changes and the session has ended. */
  #pageCaller = currentCaller()
  /** Whether the server has rejected the caller of a page with unsaved changes. */
  #hasSessionEnded = false
  /** Whose page was left because the session had ended, and its address. */
  #left: { readonly caller: string; readonly hash: string } | null = null

  constructor() {
    super()
    this.addEventListener(signedInEvent, () => void this.#onSignedIn())
    addEventListener('hashchange', () => void this.#onNavigation())
    document.addEventListener(keyRejectedEvent, this.#onKeyRejected)
    watchStoredUser(() => this.#onOtherTab())
  }

  protected override createRenderRoot(): this {
    // Replaces the stations that the server rendered into the page.
    this.replaceChildren()
    return this
  }

  protected override render() {
    const isSignedOut = currentCaller() === '' || this.#hasSessionEnded
    const caller = this.#pageCaller
    return html`
      <header class="topbar">
        <a class="brand" href="#/">Cuewire</a>
        ${
          isSignedOut
            ? html`<sign-in .reason=${this.#hasSessionEnded ? sessionEndedText : ''}></sign-in>`
            : buttonView('Sign out', this.#signOut, { style: 'link' })
        }
      </header>
      ${installationStatusView({
        health: this.#health.value,
        queues: this.#queues.value?.queues ?? [],
        healthError: this.#health.error?.message ?? ''
      })}
      ${keyed(caller, html`<main class="view" tabindex="-1" ?data-old=${!this.#isServerAvailable}>${this.#mainView(caller)}</main>`)}
      <footer class="links">
        <a href="api/docs">API</a>
      </footer>
      <notice-list></notice-list>
    `
  }

  #mainView(caller: string) {
    const route = this.#route
    if (route.view === 'join')
      return html`<view-loader .view=${joinView} .page=${{ token: route.token }}></view-loader>`
    if (!isKnownView(route)) return notFoundView
    if (caller === '') return html`<stations-view .isOperator=${false}></stations-view>`
    if (route.view === 'station')
      return keyed(
        route.station,
        html`<station-view
          .station=${route.station}
          .section=${route.section}
          .place=${route}
          .isOutdated=${!this.#isServerAvailable}
        ></station-view>`
      )
    return html`<installation-frame
      .section=${route.section}
      .item=${route.item}
      .health=${this.#health.value}
      .queues=${this.#queues.value?.queues ?? null}
    ></installation-frame>`
  }

  protected override willUpdate(): void {
    // Another tab may have signed in or out.
    if (!this.#hasSessionEnded && currentCaller() !== this.#pageCaller && !hasUnsavedChanges())
      this.#pageCaller = currentCaller()
    const isAvailable = this.#health.error?.status !== 0
    if (isAvailable === this.#isServerAvailable) return
    this.#isServerAvailable = isAvailable
    document.dispatchEvent(new CustomEvent(serverAvailabilityEvent, { detail: isAvailable }))
    if (isAvailable) wakeFollowers()
  }

  protected override firstUpdated(): void {
    void this.#askToSignIn()
  }

  protected override updated(): void {
    if (!isKnownView(this.#route)) setPageTitle('Page not found')
  }

  /** Shows the view of the URL, unless the operator wants to keep unsaved changes of the current one. */
  readonly #onNavigation = async () => {
    const { hash } = location
    if (hash === this.#hash) return
    const route = parseDashboardRoute(hash)
    const isSamePage = isSameSection(this.#route, route)
    if (!keepsFormOpen(this.#route, route) && !(await mayDiscardChanges())) {
      history.pushState(null, '', this.#hash === '' ? '#/' : this.#hash)
      return
    }
    this.#hash = hash
    this.#route = route
    this.requestUpdate()
    void this.#askToSignIn()
    document.dispatchEvent(new Event(viewChangedEvent))
    // Within a section, the page moves the focus itself.
    if (isSamePage) return
    requestAnimationFrame(() => {
      // For screen readers.
      scrollTo(0, 0)
      this.querySelector('h1')?.focus({ preventScroll: true })
    })
  }

  /** Shows the form to sign in if the view of the URL needs it. */
  async #askToSignIn(): Promise<void> {
    const route = this.#route
    const isPublic = route.view === 'join' || (route.view === 'installation' && route.section === 'stations')
    if (currentCaller() !== '' || isPublic || !isKnownView(route)) return
    await this.#openSignIn()
  }

  async #openSignIn(): Promise<void> {
    await this.updateComplete
    const signIn = this.#signIn
    await signIn?.updateComplete
    signIn?.open()
  }

  get #signIn(): SignIn | null {
    const signIn = this.querySelector('sign-in')
    return signIn instanceof SignIn ? signIn : null
  }

  /**
   * Continues the page whose session had ended, or shows that of the new caller and moves the focus from the
   * closed dialog to it.
   */
  async #onSignedIn(): Promise<void> {
    if (this.#hasSessionEnded) {
      this.#hasSessionEnded = false
      this.requestUpdate()
      const isSamePerson = currentCaller() === this.#pageCaller
      if (isSamePerson || !(await mayDiscardChanges())) {
        resumeSession()
        return
      }
      // Closes the forms of the previous caller.
      document.dispatchEvent(new Event(viewChangedEvent))
    }
    this.#pageCaller = currentCaller()
    this.requestUpdate()
    const left = this.#left
    this.#left = null
    if (left?.caller === currentCaller()) {
      resumeSession()
      if (this.#hash === '#/') location.hash = left.hash
    }
    await this.updateComplete
    this.querySelector('main')?.focus({ preventScroll: true })
  }

  /** Another tab may have signed in or out. A page with unsaved changes stays, as when its session has ended. */
  #onOtherTab(): void {
    if (!isOtherUserStored()) {
      // Signed in again as the same person.
      if (this.#hasSessionEnded && currentApiKey() === '') this.#signIn?.resume()
      return
    }
    if (currentApiKey() === '' && currentCaller() !== '' && hasUnsavedChanges()) return this.#endSession(true)
    adoptStoredUser()
    this.requestUpdate()
  }

  /** Asks to sign in again, on top of a page with unsaved changes. */
  #endSession(isSave: boolean): void {
    const isFirst = !this.#hasSessionEnded
    this.#hasSessionEnded = true
    this.requestUpdate()
    // Who has closed the dialog is asked again when saving.
    if (isFirst || isSave) void this.#openSignIn()
  }

  /** Forgets a key, or ends the session. */
  readonly #signOut = async () => {
    if (!(await mayDiscardChanges())) return
    if (currentApiKey() === '') {
      try {
        await callApi('DELETE', 'api/frontend/account/session')
      } catch (error) {
        // Still signed in: the session has not ended.
        if (!toApiRequestError(error).isUnauthenticated) return showErrorNotice(this, error)
      }
    }
    this.#forgetCaller()
  }

  #forgetCaller(): void {
    if (currentApiKey() === '') storeSignedInUser(null)
    storeTabApiKey('')
    this.#hasSessionEnded = false
    this.#left = null
    this.#pageCaller = currentCaller()
    location.hash = '#/'
    this.requestUpdate()
  }

  /** Asks to sign in again, on top of a page with unsaved changes; other pages are left. */
  readonly #onKeyRejected = ({ detail: isSave }: CustomEvent<boolean>) => {
    if (currentCaller() === '') return
    if (hasUnsavedChanges()) return this.#endSession(isSave)
    const left = { caller: currentCaller(), hash: this.#hash }
    const text =
      currentApiKey() === ''
        ? 'Your session has ended. Sign in again.'
        : 'The API key is no longer valid. Sign in again.'
    this.#forgetCaller()
    this.#left = left
    showNotice(this, { text, isError: true })
  }
}

/** Continues what waits for the session. A connection that began with the old one shows no private stations. */
function resumeSession(): void {
  document.dispatchEvent(new Event(sessionResumedEvent))
  wakeFollowers()
}

const sessionEndedText =
  'Your session has ended, or the API key is no longer valid. Sign in to continue: your changes are still here.'

/** Whether the route names a view that exists. */
function isKnownView(route: DashboardRoute): route is Exclude<DashboardRoute, { view: 'not-found' }> {
  if (route.view === 'not-found') return false
  if (route.view === 'join') return true
  const views: readonly DashboardView[] = route.view === 'station' ? stationViews : installationViews
  return views.some(({ section }) => section === route.section)
}

const notFoundView = html`<h1 class="headline" tabindex="-1">Page not found</h1>
  <p><a href="#/">All stations</a></p>`
