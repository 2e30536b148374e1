import { html } from 'lit'

import { defineElements, LightElement, reactiveProperties } from '../ui/light-element.ts'
import { FirstAccount } from './first-account.ts'
import { InvitationList } from './invitation-list.ts'
import { RoleForm } from './role-form.ts'
import { RoleList } from './role-list.ts'
import { UserList } from './user-list.ts'

/** Users, invitations and roles. */
class PeoplePage extends LightElement {
  static override properties = reactiveProperties<PeoplePage>('item')
  /** What the form shows: `user-3`, `invitation-new`, `role-2`, `role-new`. */
  declare item: string

  protected override render() {
    return html`<div class="stack">
      <user-list .item=${this.item}></user-list><invitation-list .item=${this.item}></invitation-list
      ><role-list .item=${this.item}></role-list>
    </div>`
  }
}

defineElements({
  'first-account': FirstAccount,
  'invitation-list': InvitationList,
  'role-form': RoleForm,
  'role-list': RoleList,
  'user-list': UserList,
  'people-page': PeoplePage
})
