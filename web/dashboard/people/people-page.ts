import { html } from 'lit'

import { defineElements, LightElement } from '../ui/light-element.ts'
import { FirstAccount } from './first-account.ts'
import { InvitationList } from './invitation-list.ts'
import { RoleForm } from './role-form.ts'
import { RoleList } from './role-list.ts'
import { UserList } from './user-list.ts'

/** Users, invitations and roles. */
class PeoplePage extends LightElement {
  protected override render() {
    return html`<div class="stack">
      <user-list></user-list><invitation-list></invitation-list><role-list></role-list>
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
