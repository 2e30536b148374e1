import { html } from 'lit'

import { defineElements } from '../ui/light-element.ts'
import { StationPage } from '../ui/station-page.ts'
import { HookCard } from './hook-card.ts'
import { HookFailure } from './hook-failure.ts'
import { StationHooks } from './station-hooks.ts'

/** The web hooks of a station. */
class HooksPage extends StationPage {
  protected override render() {
    return html`<station-hooks
      .station=${this.station}
      .zone=${this.zone}
      .item=${this.item}
      .canManage=${this.permissions.allows('manageHooks')}
      .refreshKey=${this.refreshKey}
    ></station-hooks>`
  }
}

defineElements({
  'hook-card': HookCard,
  'hook-failure': HookFailure,
  'station-hooks': StationHooks,
  'hooks-page': HooksPage
})
