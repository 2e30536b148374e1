import { html, nothing } from 'lit'

import { watchPermissions } from '../api/permissions.ts'
import { pollResource } from '../api/poll-resource.ts'
import { chipView } from '../ui/controls.ts'
import { LightElement, reactiveProperties } from '../ui/light-element.ts'
import { installationLink } from '../ui/route.ts'
import { formatAge, formatCount } from '../ui/text.ts'
import type { InstallationHealth, QueueStatus } from './installation-status.ts'

const maxAlerts = 3

/** The latest unread notifications and the state of the installation, above the stations. */
export class InstallationSummary extends LightElement {
  static override properties = reactiveProperties<InstallationSummary>('health', 'queues')
  declare health: InstallationHealth | null
  declare queues: readonly QueueStatus[] | null

  readonly #permissions = watchPermissions(this, () => '')
  readonly #unread = pollResource(this, {
    path: () =>
      this.#permissions.allows('viewInstallation')
        ? `api/v1/main/notifications?per_page=${maxAlerts}&is_read=false`
        : null,
    intervalMs: 20_000
  })

  protected override render() {
    const { health, queues } = this
    const unread = this.#unread.value
    const chips = [
      ...(health === null
        ? []
        : [
            stateView('Postgres', health.postgres === 'up'),
            stateView('Redis', health.redis === 'up'),
            stateView('Live state', health.live_state === 'current')
          ]),
      ...(queues === null
        ? []
        : [
            stateView(
              'Workers',
              queues.every(({ workers }) => workers > 0)
            )
          ])
    ]
    if (chips.length === 0 && unread === null) return nothing
    return html`<section class="summary" aria-label="Installation">
      <p class="chips">${chips}</p>
      ${
        unread === null || unread.total === 0
          ? nothing
          : html`<ul>
                ${unread.notifications.map(
                  ({ title, type, created_at: at }) =>
                    html`<li class="line" data-type=${type}>
                      <span class="row-title">${title}</span><span class="quiet">${formatAge(at)}</span>
                    </li>`
                )}
              </ul>
              <p>
                <a href=${installationLink('system')}
                  >All of ${formatCount(unread.total, 'unread notification')}</a
                >
              </p>`
      }
    </section>`
  }
}

const stateView = (name: string, isUp: boolean) =>
  chipView(isUp ? { text: name, tone: 'good' } : { text: `${name}: see System`, tone: 'bad' })
