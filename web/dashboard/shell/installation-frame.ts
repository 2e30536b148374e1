import { html, nothing } from 'lit'
import { repeat } from 'lit/directives/repeat.js'

import { watchPermissions } from '../api/permissions.ts'
import type { InstallationHealth, QueueStatus } from '../installation/installation-status.ts'
import { LightElement, reactiveProperties, setPageTitle } from '../ui/light-element.ts'
import { forbiddenView } from '../ui/panel.ts'
import { installationLink, type InstallationSection } from '../ui/route.ts'
import { installationViews } from '../views.ts'

/** The navigation of the installation, and the page of a section. */
export class InstallationFrame extends LightElement {
  static override properties = reactiveProperties<InstallationFrame>('section', 'item', 'health', 'queues')
  declare section: InstallationSection
  /** The record in the form; '' if none is open. */
  declare item: string
  declare health: InstallationHealth | null
  declare queues: readonly QueueStatus[] | null

  readonly #permissions = watchPermissions(this, () => '')

  protected override render() {
    const { allows, isKnown } = this.#permissions
    const allowed = installationViews.filter(({ features }) => features.length === 0 || features.some(allows))
    const view = installationViews.find(({ section }) => section === this.section)
    if (view === undefined) return nothing
    return html`<nav class="tabs" aria-label="Installation">
        ${
          // Links must not move under the pointer.
          isKnown
            ? repeat(
                allowed,
                ({ section }) => section,
                ({ section, title }) =>
                  html`<a
                    href=${installationLink(section)}
                    aria-current=${section === this.section ? 'page' : 'false'}
                    >${title}</a
                  >`
              )
            : nothing
        }
      </nav>
      ${view.hasOwnHeading === true ? nothing : html`<h1 class="headline" tabindex="-1">${view.title}</h1>`}
      ${
        allowed.includes(view)
          ? html`<view-loader
              .view=${view}
              .page=${{ isOperator: true, item: this.item, health: this.health, queues: this.queues }}
            ></view-loader>`
          : isKnown
            ? forbiddenView
            : nothing
      }`
  }

  protected override updated(): void {
    this.querySelector('.tabs [aria-current=page]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
    const view = installationViews.find(({ section }) => section === this.section)
    if (view !== undefined && view.hasOwnHeading !== true) setPageTitle(view.title)
  }
}
