/** A right a key may carry. */
export type Permission =
  | 'administer all'
  | 'view administration'
  | 'view station management'
  | 'manage station broadcasting'

/** What a right includes beside itself; `administer all` includes every other. */
const included: Record<Permission, readonly Permission[]> = {
  'administer all': ['view administration', 'view station management', 'manage station broadcasting'],
  'view administration': [],
  'view station management': [],
  'manage station broadcasting': ['view station management']
}

/** Whether rights as stored, which may name some this version does not know, include the one that is asked for. */
export function allows(permissions: readonly string[], wanted: Permission): boolean {
  return permissions.some(held => held === wanted || (isPermission(held) && included[held].includes(wanted)))
}

function isPermission(text: string): text is Permission {
  return Object.hasOwn(included, text)
}
