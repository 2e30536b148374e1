import { isolated } from './light-element.ts'

/** Names the page by what it shows, for tabs and bookmarks. */
export function titlePage(shown: string): void {
  const title = `${isolated(shown)} · Cuewire`
  if (document.title !== title) document.title = title
}
