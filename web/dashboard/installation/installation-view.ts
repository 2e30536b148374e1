import { html, nothing } from 'lit'
import * as v from 'valibot'

import { installationRightsFor } from '../api/permissions.ts'
import { readFor } from '../api/poll-resource.ts'
import { LightElement } from '../ui/light-element.ts'
import { errorView } from '../ui/panel.ts'
import type { Health, Queue } from './installation-status.ts'

const everyMs = 60_000
const nearlyFull = 90

const locations = v.array(
  v.object({
    id: v.number(),
    type: v.string(),
    uri: v.string(),
    storageUsed: v.string(),
    storageAvailable: v.string(),
    storageUsedPercent: v.string(),
    isFull: v.string(),
    stations: v.array(v.string())
  })
)
type Location = v.InferOutput<typeof locations>[number]

/** How full the storage locations are. */
export class StorageGauges extends LightElement {
  readonly #locations = readFor(this, {
    schema: locations,
    path: () => 'api/admin/storage_locations',
    everyMs
  })

  protected override render() {
    const { value } = this.#locations
    return html`<section class="panel" aria-labelledby="storage">
      <h2 class="heading" id="storage">Storage</h2>
      ${errorView(this.#locations)}
      ${value?.length === 0 ? html`<p class="quiet">There are no storage locations.</p>` : nothing}
      <ul class="gauges">
        ${value?.map(gaugeView)}
      </ul>
    </section>`
  }
}

function gaugeView(location: Location) {
  const { id, uri, type, storageUsed: used, storageAvailable: available, stations } = location
  const percent = Math.min(100, Number(location.storageUsedPercent) || 0)
  const isKnown = available !== ''
  const mood = location.isFull === 'true' ? 'bad' : percent >= nearlyFull ? 'doubt' : 'good'
  const text = isKnown ? `${used} of ${available}` : used
  return html`<li class="gauge" data-mood=${mood}>
    <p class="gauge-head"><span id="location-${id}">${uri}</span><span class="gauge-text">${text}</span></p>
    <div
      class="gauge-bar"
      role="meter"
      aria-labelledby="location-${id}"
      aria-valuemin="0"
      aria-valuemax="100"
      aria-valuenow=${percent}
      aria-valuetext="${text}${mood === 'bad' ? ', full' : ''}"
    >
      <div .style=${`width: ${isKnown ? percent : 0}%`}></div>
    </div>
    <p class="quiet">
      ${[types[type] ?? type, ...stations].join(' · ')}${mood === 'bad' ? html` · <strong>full</strong>` : nothing}
    </p>
  </li>`
}

const types: Readonly<Record<string, string>> = {
  backup: 'Backups',
  station_media: 'Media',
  station_recordings: 'Recordings',
  station_podcasts: 'Podcasts'
}

/** Everything beside stations. */
export class InstallationView extends LightElement {
  static override properties = { health: { attribute: false }, queues: { attribute: false } }
  declare health: Health | null
  declare queues: readonly Queue[] | null

  readonly #rights = installationRightsFor(this)

  protected override render() {
    return html`<div class="installation">
      <notification-list .maySettle=${this.#rights.may('settling')}></notification-list>
      ${this.#rights.may('storage') ? html`<storage-gauges></storage-gauges>` : nothing}
      <system-health .health=${this.health} .queues=${this.queues}></system-health>
    </div>`
  }
}
