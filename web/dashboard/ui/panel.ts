import { html, nothing } from 'lit'

import type { PolledResource } from '../api/poll-resource.ts'
import { buttonView } from './controls.ts'
import { formatAge } from './text.ts'

interface PanelOptions {
  readonly id: string
  readonly title: string
  readonly resource: PolledResource<unknown>
  /** Shown instead of an empty list; '' if the list is not empty. */
  readonly emptyText?: string
  /** Shown beside the title. */
  readonly actions?: unknown
}

/** A titled section that shows a resource. */
export function panelView({ id, title, resource, emptyText = '', actions }: PanelOptions, content: unknown) {
  const heading = html`<h2 class="heading" id=${id}>${title}</h2>`
  return html`<section class="panel" aria-labelledby=${id}>
    ${actions === undefined ? heading : html`<header class="panel-head">${heading} ${actions}</header>`}
    ${loadStateView(resource)} ${emptyText === '' ? nothing : html`<p class="quiet">${emptyText}</p>`}
    ${content}
  </section>`
}

/** Says that a resource is loading, failed to load or is out of date; otherwise nothing. */
export function loadStateView({ value, error, readAtMs, refresh }: PolledResource<unknown>) {
  if (error === null) return value === null ? html`<p class="quiet" aria-busy="true">…</p>` : nothing
  if (error.status === 403) return forbiddenView
  const age = value === null ? '' : ` Last updated ${formatAge(readAtMs / 1_000)}.`
  return html`<p class="trouble">
    ${error.message}${age} ${buttonView('Try again', refresh, { style: 'link' })}
  </p>`
}

/** Shown in place of what the caller has no permission to view. */
export const forbiddenView = html`<p class="trouble">You do not have permission to view this.</p>`
