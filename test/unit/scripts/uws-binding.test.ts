import { describe, expect, test } from 'vitest'

import { chooseBinding, explainNoBinding, thisPlatform } from '../../../scripts/uws-binding.mjs'

const older = 'uWebSockets.js'
const newer = 'uWebSockets.js-20.69'

describe('the binding of uWebSockets.js', () => {
  test.for([
    // Debian 12
    ['linux', '20.20.0', '2.36', older],
    ['linux', '22.20.0', '2.36', older],
    ['linux', '23.20.0', '2.36', older],
    ['linux', '24.20.0', '2.36', null],
    ['linux', '26.20.0', '2.36', null],
    // Debian 13
    ['linux', '20.20.0', '2.41', older],
    ['linux', '22.20.0', '2.41', newer],
    ['linux', '23.20.0', '2.41', older],
    ['linux', '24.20.0', '2.41', newer],
    ['linux', '26.20.0', '2.41', newer],
    // Minimum versions
    ['linux', '22.20.0', '2.38', newer],
    ['linux', '22.20.0', '2.37', older],
    ['linux', '22.20.0', '2.9', null],
    ['linux', '20.20.0', '2.27', older],
    ['linux', '20.20.0', '2.26', null],
    ['linux', '22.20.0', '3.0', newer],
    // Alpine
    ['linux', '22.20.0', '', null],
    // macOS
    ['darwin', '20.20.0', '', older],
    ['darwin', '22.20.0', '', newer],
    ['darwin', '23.20.0', '', older],
    ['darwin', '24.20.0', '', newer],
    ['darwin', '26.20.0', '', newer],
    // Versions without a binary
    ['linux', '20.19.0', '2.36', older],
    ['linux', '20.18.1', '2.36', null],
    ['linux', '18.20.0', '2.41', null],
    ['linux', '21.20.0', '2.41', null],
    ['linux', '25.20.0', '2.41', null],
    ['darwin', '25.20.0', '', null],
    ['linux', '28.20.0', '2.41', null],
    ['win32', '22.20.0', '', null]
  ] as const)('on %s with Node %s and glibc "%s" is %s', ([platform, node, glibc, expected]) => {
    for (const arch of ['x64', 'arm64']) expect(chooseBinding({ platform, arch, node, glibc })).toBe(expected)
    expect(chooseBinding({ platform, arch: 'arm', node, glibc })).toBeNull()
  })

  test('exists for the current platform', () => {
    expect(chooseBinding(thisPlatform())).toMatch(/^uWebSockets\.js/)
  })

  test.for([
    [
      'linux',
      'x64',
      '24.20.0',
      '2.36',
      'Node 24 and glibc 2.36: install Node 22, or a Linux with glibc 2.38'
    ],
    ['linux', 'x64', '25.20.0', '2.41', 'Node 25 and glibc 2.41: install Node 22'],
    ['darwin', 'arm64', '25.20.0', '', 'Node 25: install Node 22'],
    ['linux', 'x64', '20.18.1', '2.41', 'Node 20.18.1 is older than 20.19: install Node 22'],
    ['linux', 'x64', '22.20.0', '', 'musl, as on Alpine'],
    ['linux', 'x64', '22.20.0', '2.17', 'needs glibc 2.27 or later (this is 2.17)'],
    ['linux', 'arm', '22.20.0', '2.41', 'no binary for arm: use a machine with x64 or arm64'],
    ['win32', 'x64', '22.20.0', '', 'WSL on Windows']
  ] as const)(
    'is explained where there is none: %s %s Node %s "%s"',
    ([platform, arch, node, glibc, text]) => {
      const said = explainNoBinding({ platform, arch, node, glibc })
      expect(said).toContain(text)
      expect(said).not.toContain('\n')
    }
  )
})
