import { expect, test } from 'vitest'

import {
  parseCandidateMajor,
  parsePackagesToUnpack
} from '../../../../src/stores/embedded/system-packages.ts'

const policy = `redis-server:
  Installed: 5:6.0.16-1
  Candidate: 5:7.0.15-1~deb12u10
  Version table:
     5:7.0.15-1~deb12u10 500
valkey-server:
  Installed: (none)
  Candidate: 8.1.1+dfsg1-3+deb13u2
redis-tools:
  Installed: 5:7.0.15-1
  Candidate: (none)
`

test('the candidate version of a package is parsed with and without an epoch', () => {
  expect(parseCandidateMajor(policy, 'redis-server')).toBe(7)
  expect(parseCandidateMajor(policy, 'valkey-server')).toBe(8)
  expect(parseCandidateMajor(policy, 'redis-tools')).toBeUndefined()
  expect(parseCandidateMajor(policy, 'redis')).toBeUndefined()
  expect(parseCandidateMajor('', 'redis-server')).toBeUndefined()
})

test('the libraries of the server are unpacked, except the C library and other programs', () => {
  const depends = `redis-server
  PreDepends: init-system-helpers
 |Depends: lsb-base
  Depends: sysvinit-utils
  Depends: redis-tools
init-system-helpers
  PreDepends: perl-base
perl-base
  PreDepends: libcrypt1
redis-tools
  Depends: adduser
  Depends: libc6
  Depends: libjemalloc2
 |Depends: libsystemd0
  Depends: libelogind0
  Depends: lua-cjson
  Depends: <libvirtual1>
    libprovider1
<libvirtual1>
libjemalloc2
  Depends: libc6
  Depends: libgcc-s1
libgcc-s1
  Depends: gcc-12-base
  Depends: libc6
libsystemd0
  Depends: libjemalloc2
lua-cjson
  Depends: libc6
`
  expect(parsePackagesToUnpack(depends, 'redis-server')).toEqual([
    'redis-server',
    'redis-tools',
    'libjemalloc2',
    'libsystemd0',
    'lua-cjson',
    'libgcc-s1'
  ])
})
