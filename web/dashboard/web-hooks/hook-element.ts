import { nothing } from 'lit'

import { callAction } from '../api/call-api.ts'
import type { StationPath } from '../api/typed-response.ts'
import type { ActionRunner } from '../ui/actions.ts'
import { buttonView } from '../ui/controls.ts'
import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import type { WebHook } from './hook.ts'

/** The part of the page that shows one web hook. */
export class HookElement extends StationElement {
  static override properties = reactiveProperties<HookElement>('hook', 'canManage')
  declare hook: WebHook
  declare canManage: boolean

  /** The path of the hook in the API. */
  protected get hookPath(): `${StationPath}/webhook/${number}` {
    return `${this.path}/webhook/${this.hook.id}`
  }

  /** The button that sends a delivery again; `refresh` reads its new state. */
  protected redeliverView(actions: ActionRunner, deliveryId: number, refresh: () => Promise<unknown>) {
    if (!this.canManage || !this.hook.is_enabled) return nothing
    const path = `${this.hookPath}/delivery/${deliveryId}/redeliver`
    const redeliver = () => callAction('POST', path, { refresh })
    return buttonView('Send again', () => actions.run('redeliver', redeliver), {
      style: 'link',
      isDisabled: actions.inFlight !== null
    })
  }
}
