/** A right a key may carry; `administer all` includes every other. */
export type Permission =
  | 'administer all'
  | 'view administration'
  | 'view station management'
  | 'manage station broadcasting'
