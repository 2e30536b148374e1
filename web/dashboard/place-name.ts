/** What people call a time zone: `Comod Rivadavia` of `America/Argentina/ComodRivadavia`. */
export function placeName(zone: string): string {
  const last = zone.split('/').at(-1) ?? zone
  return last.replaceAll('_', ' ').replace(/(?<!\bMc)(?<=[a-z])(?=[A-Z])/g, ' ')
}
