import { installationLink } from '../ui/route.ts'

/** Opens the form of a user or role: `user-3`, `role-2`, `role-new`. */
export function openPeople(item: string): void {
  location.hash = installationLink('people', item)
}

/** Closes the form. */
export function closePeople(): void {
  location.replace(installationLink('people'))
}
