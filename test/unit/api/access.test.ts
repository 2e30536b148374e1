import { describe, expect, test } from 'vitest'

import {
  allows,
  globalPermissions,
  mayGrant,
  maySeePrivate,
  type RequiredPermission,
  type Permission,
  type Grants,
  stationPermissions
} from '../../../src/api/auth/access.ts'

const everywhere = (...permissions: string[]): Grants => ({ permissions, stationPermissions: {} })
const at = (stationId: number, ...permissions: string[]): Grants => ({
  permissions: [],
  stationPermissions: { [stationId]: permissions }
})
const read = (permission: Permission, stationId: number | null = null): RequiredPermission => ({
  permission,
  stationId,
  isRead: true
})
const write = (permission: Permission, stationId: number | null = null): RequiredPermission => ({
  permission,
  stationId,
  isRead: false
})

describe('allows', () => {
  const table: [what: string, grants: Grants, need: RequiredPermission, isAllowed: boolean][] = [
    ['nothing', everywhere(), read('view administration'), false],
    ['a right', everywhere('administer settings'), write('administer settings'), true],
    ['another right', everywhere('administer backups'), write('administer settings'), false],
    ['everything', everywhere('administer all'), write('administer settings'), true],
    ['everything, at a station', everywhere('administer all'), write('manage station media', 7), true],
    ['every read', everywhere('view all'), read('administer api keys'), true],
    ['every read, to write', everywhere('view all'), write('administer api keys'), false],
    ['every read, at a station', everywhere('view all'), read('manage station web hooks', 7), true],
    ['every read, to write there', everywhere('view all'), write('manage station media', 7), false],
    ['stations', everywhere('administer stations'), write('manage station mounts', 7), true],
    ['stations, for the rest', everywhere('administer stations'), write('administer settings'), false],
    ['a station right for all', everywhere('manage station media'), write('manage station media', 7), true],
    ['a station right', at(7, 'manage station media'), write('manage station media', 7), true],
    ['that of another station', at(8, 'manage station media'), write('manage station media', 7), false],
    ['a station', at(7, 'administer all'), write('manage station broadcasting', 7), true],
    ['a station, elsewhere', at(7, 'administer all'), read('view station management', 8), false],
    ['a station, for the installation', at(7, 'administer all'), read('view administration'), false],
    ['reads of a station', at(7, 'view all'), read('manage station media', 7), true],
    ['reads of a station, to write', at(7, 'view all'), write('manage station media', 7), false],
    ['a write right, to read', at(7, 'delete station media'), read('view station management', 7), true],
    ['a write right, for reports', at(7, 'manage station media'), read('view station reports', 7), false],
    [
      'broadcasting, for reports',
      at(7, 'manage station broadcasting'),
      read('view station reports', 7),
      true
    ],
    [
      'a write right for something else',
      at(7, 'manage station web hooks'),
      read('view station management', 7),
      false
    ],
    ['custom fields, to look', everywhere('administer custom fields'), read('view administration'), true],
    ['backups, to look', everywhere('administer backups'), read('view administration'), false],
    [
      'a station right, to look there',
      everywhere('manage station media'),
      read('view administration'),
      false
    ],
    [
      'a global right kept at a station',
      at(7, 'administer stations'),
      write('manage station media', 7),
      false
    ],
    ['an unknown right', everywhere('manage station everything'), read('view station management', 7), false],
    ['a right by another name', everywhere('Administer All'), read('view administration'), false]
  ]
  test.for(table)('%s', ([, rights, need, isAllowed]) => {
    expect(allows(rights, need)).toBe(isAllowed)
  })
})

describe('private stations', () => {
  const table: [what: string, grants: Grants, isOpen: boolean][] = [
    ['nothing', everywhere(), false],
    ['any right there', at(7, 'view station reports'), true],
    ['any right elsewhere', at(8, 'administer all'), false],
    ['no right there', at(7), false],
    ['every read', everywhere('view all'), true],
    ['stations', everywhere('administer stations'), true],
    ['a station right for all', everywhere('manage station web hooks'), true],
    ['a right of the installation', everywhere('administer api keys'), false]
  ]
  test.for(table)('%s', ([, rights, isOpen]) => {
    expect(maySeePrivate(rights, 7)).toBe(isOpen)
  })
})

describe('granting permissions', () => {
  test('a key with all permissions may grant all permissions', () => {
    for (const right of globalPermissions)
      expect([right, mayGrant(everywhere('administer all'), right, null)]).toEqual([right, true])
    for (const right of stationPermissions)
      expect([right, mayGrant(everywhere('administer all'), right, 7)]).toEqual([right, true])
  })

  test('only a key with all permissions can grant them', () => {
    for (const held of globalPermissions.filter(right => right !== 'administer all')) {
      expect([held, mayGrant(everywhere(held), 'administer all', null)]).toEqual([held, false])
      expect([held, mayGrant(at(7, held), 'administer all', null)]).toEqual([held, false])
    }
  })

  test('a granted permission allows nothing that the granting key may not do', () => {
    for (const held of globalPermissions) {
      for (const given of globalPermissions.filter(right => mayGrant(everywhere(held), right, null))) {
        for (const right of globalPermissions) {
          for (const need of [
            read(right),
            read(right, 7),
            ...(given.startsWith('view ') ? [] : [write(right, 7)])
          ]) {
            const isMore = allows(everywhere(given), need) && !allows(everywhere(held), need)
            expect([held, given, need, isMore]).toEqual([held, given, need, false])
          }
        }
      }
    }
  })

  const table: [
    what: string,
    grants: Grants,
    right: Permission,
    stationId: number | null,
    isHeld: boolean
  ][] = [
    ['readers hand on what reads', everywhere('view all'), 'view station reports', null, true],
    ['readers hand on all reads', everywhere('view all'), 'view all', 7, true],
    ['readers hand on no writes', everywhere('view all'), 'manage station media', 7, false],
    ['those of all stations hand on one', everywhere('administer stations'), 'administer all', 7, true],
    ['but not the installation', everywhere('administer stations'), 'administer all', null, false],
    ['those of a station hand it on', at(7, 'administer all'), 'view all', 7, true],
    ['but no other', at(7, 'administer all'), 'view all', 8, false],
    ['and not for all', at(7, 'administer all'), 'view all', null, false]
  ]
  test.for(table)('%s', ([, rights, right, stationId, isHeld]) => {
    expect(mayGrant(rights, right, stationId)).toBe(isHeld)
  })
})
