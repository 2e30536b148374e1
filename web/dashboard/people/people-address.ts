import { installationLink } from '../ui/route.ts'

/** Opens a form: `user-3`, `invitation-new`, `role-2`, `role-new`. */
export function openPeopleForm(item: string): void {
  location.hash = installationLink('people', item)
}

/** Closes the form. */
export function closePeopleForm(): void {
  location.replace(installationLink('people'))
}
