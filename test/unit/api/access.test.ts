import { describe, expect, test } from 'vitest'

import {
  hasPermission,
  globalPermissions,
  mayGrant,
  maySeePrivateStation,
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
    ['a permission', everywhere('administer settings'), write('administer settings'), true],
    ['another permission', everywhere('administer backups'), write('administer settings'), false],
    ['everything', everywhere('administer all'), write('administer settings'), true],
    ['everything, at a station', everywhere('administer all'), write('manage station media', 7), true],
    ['every read', everywhere('view all'), read('administer api keys'), true],
    ['every read, to write', everywhere('view all'), write('administer api keys'), false],
    ['every read, at a station', everywhere('view all'), read('manage station web hooks', 7), true],
    ['every read, to write there', everywhere('view all'), write('manage station media', 7), false],
    ['stations', everywhere('administer stations'), write('manage station mounts', 7), true],
    ['stations, for the rest', everywhere('administer stations'), write('administer settings'), false],
    [
      'a station permission for all',
      everywhere('manage station media'),
      write('manage station media', 7),
      true
    ],
    ['a station permission', at(7, 'manage station media'), write('manage station media', 7), true],
    [
      'a permission of another station',
      at(8, 'manage station media'),
      write('manage station media', 7),
      false
    ],
    ['a station', at(7, 'administer all'), write('manage station broadcasting', 7), true],
    ['a station, elsewhere', at(7, 'administer all'), read('view station management', 8), false],
    ['a station, for the installation', at(7, 'administer all'), read('view administration'), false],
    ['reads of a station', at(7, 'view all'), read('manage station media', 7), true],
    ['reads of a station, to write', at(7, 'view all'), write('manage station media', 7), false],
    ['a write permission, to read', at(7, 'delete station media'), read('view station management', 7), true],
    [
      'a write permission, for reports',
      at(7, 'manage station media'),
      read('view station reports', 7),
      false
    ],
    [
      'broadcasting, for reports',
      at(7, 'manage station broadcasting'),
      read('view station reports', 7),
      true
    ],
    [
      'a write permission for something else',
      at(7, 'manage station web hooks'),
      read('view station management', 7),
      false
    ],
    ['custom fields, to read', everywhere('administer custom fields'), read('view administration'), true],
    ['backups, to read', everywhere('administer backups'), read('view administration'), false],
    [
      'a station permission, to read the administration',
      everywhere('manage station media'),
      read('view administration'),
      false
    ],
    [
      'an installation permission at a station',
      at(7, 'administer stations'),
      write('manage station media', 7),
      false
    ],
    [
      'an unknown permission',
      everywhere('manage station everything'),
      read('view station management', 7),
      false
    ],
    ['a permission in another case', everywhere('Administer All'), read('view administration'), false]
  ]
  test.for(table)('%s', ([, grants, need, isAllowed]) => {
    expect(hasPermission(grants, need)).toBe(isAllowed)
  })
})

describe('private stations', () => {
  const table: [what: string, grants: Grants, isOpen: boolean][] = [
    ['nothing', everywhere(), false],
    ['any permission there', at(7, 'view station reports'), true],
    ['any permission elsewhere', at(8, 'administer all'), false],
    ['no permission there', at(7), false],
    ['every read', everywhere('view all'), true],
    ['stations', everywhere('administer stations'), true],
    ['a station permission for all', everywhere('manage station web hooks'), true],
    ['an installation permission', everywhere('administer api keys'), false]
  ]
  test.for(table)('%s', ([, grants, isOpen]) => {
    expect(maySeePrivateStation(grants, 7)).toBe(isOpen)
  })
})

describe('granting permissions', () => {
  test('a key with all permissions may grant all permissions', () => {
    for (const permission of globalPermissions)
      expect([permission, mayGrant(everywhere('administer all'), permission, null)]).toEqual([
        permission,
        true
      ])
    for (const permission of stationPermissions)
      expect([permission, mayGrant(everywhere('administer all'), permission, 7)]).toEqual([permission, true])
  })

  test('only a key with all permissions can grant them', () => {
    for (const held of globalPermissions.filter(permission => permission !== 'administer all')) {
      expect([held, mayGrant(everywhere(held), 'administer all', null)]).toEqual([held, false])
      expect([held, mayGrant(at(7, held), 'administer all', null)]).toEqual([held, false])
    }
  })

  test('a granted permission allows nothing that the granting key may not do', () => {
    for (const held of globalPermissions) {
      for (const given of globalPermissions.filter(permission =>
        mayGrant(everywhere(held), permission, null)
      )) {
        for (const permission of globalPermissions) {
          for (const need of [
            read(permission),
            read(permission, 7),
            ...(given.startsWith('view ') ? [] : [write(permission, 7)])
          ]) {
            const isMore = hasPermission(everywhere(given), need) && !hasPermission(everywhere(held), need)
            expect([held, given, need, isMore]).toEqual([held, given, need, false])
          }
        }
      }
    }
  })

  const table: [
    what: string,
    grants: Grants,
    permission: Permission,
    stationId: number | null,
    isHeld: boolean
  ][] = [
    ['view all may grant a read permission', everywhere('view all'), 'view station reports', null, true],
    ['view all may grant view all', everywhere('view all'), 'view all', 7, true],
    ['view all may not grant a write permission', everywhere('view all'), 'manage station media', 7, false],
    [
      'administer stations may grant all permissions of a station',
      everywhere('administer stations'),
      'administer all',
      7,
      true
    ],
    [
      'administer stations may not grant all permissions of the installation',
      everywhere('administer stations'),
      'administer all',
      null,
      false
    ],
    ['all permissions of a station may be granted there', at(7, 'administer all'), 'view all', 7, true],
    ['but not at another station', at(7, 'administer all'), 'view all', 8, false],
    ['and not for all stations', at(7, 'administer all'), 'view all', null, false]
  ]
  test.for(table)('%s', ([, grants, permission, stationId, isHeld]) => {
    expect(mayGrant(grants, permission, stationId)).toBe(isHeld)
  })
})
