import { html, nothing } from 'lit'

import { watchPermissions } from '../api/permissions.ts'
import { pollResource } from '../api/poll-resource.ts'
import type { StorageLocation } from '../api/responses.ts'
import { defineElements, LightElement, reactiveProperties } from '../ui/light-element.ts'
import { panelView } from '../ui/panel.ts'
import { InstallationChecks } from './installation-checks.ts'
import type { InstallationHealth, QueueStatus } from './installation-status.ts'
import { NotificationList } from './notification-list.ts'
import { SystemHealth } from './system-health.ts'

/** Notifications, storage and health of the installation. */
class SystemPage extends LightElement {
  static override properties = reactiveProperties<SystemPage>('health', 'queues')
  declare health: InstallationHealth | null
  declare queues: readonly QueueStatus[] | null

  readonly #permissions = watchPermissions(this, () => '')

  protected override render() {
    const { allows } = this.#permissions
    const isAllowed = allows('viewInstallation')
    return html`<div class="installation">
      ${
        isAllowed
          ? html`<notification-list .canManage=${allows('manageNotifications')}></notification-list>`
          : nothing
      }
      ${allows('viewStorage') ? html`<storage-gauges></storage-gauges>` : nothing}
      ${
        isAllowed
          ? html`<installation-checks></installation-checks>
              <system-health .health=${this.health} .queues=${this.queues}></system-health>`
          : nothing
      }
    </div>`
  }
}

/** The used and available space of the storage locations. */
class StorageGauges extends LightElement {
  readonly #locations = pollResource(this, {
    path: () => 'api/admin/storage_locations',
    intervalMs: 60_000
  })

  protected override render() {
    const { value } = this.#locations
    const emptyText = value?.length === 0 ? 'There are no storage locations.' : ''
    return panelView(
      { id: 'storage', title: 'Storage', resource: this.#locations, emptyText },
      html`<ul class="gauges">
        ${value?.map(gaugeView)}
      </ul>`
    )
  }
}

const warningPercent = 90

function gaugeView(location: StorageLocation) {
  const { id, uri, type, storageUsed: used, storageAvailable: available, stations } = location
  const percent = Math.min(100, Number(location.storageUsedPercent) || 0)
  const hasLimit = available !== ''
  const isFull = location.isFull === 'true'
  const tone = isFull ? 'bad' : percent >= warningPercent ? 'warning' : 'good'
  const text = hasLimit ? `${used} of ${available}` : used
  return html`<li class="gauge" data-tone=${tone}>
    <p class="gauge-head"><span id="location-${id}">${uri}</span><span class="gauge-text">${text}</span></p>
    <div
      class="gauge-bar"
      role="meter"
      aria-labelledby="location-${id}"
      aria-valuemin="0"
      aria-valuemax="100"
      aria-valuenow=${percent}
      aria-valuetext="${text}${isFull ? ', full' : ''}"
    >
      <div .style=${`width: ${hasLimit ? percent : 0}%`}></div>
    </div>
    <p class="quiet">
      ${[types[type] ?? type, ...stations].join(' · ')}${isFull ? html` · <strong>full</strong>` : nothing}
    </p>
  </li>`
}

const types: Readonly<Record<string, string>> = {
  backup: 'Backups',
  station_media: 'Media',
  station_recordings: 'Recordings',
  station_podcasts: 'Podcasts'
}

defineElements({
  'installation-checks': InstallationChecks,
  'notification-list': NotificationList,
  'storage-gauges': StorageGauges,
  'system-health': SystemHealth,
  'system-page': SystemPage
})
