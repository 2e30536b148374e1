import { expect, test } from 'vitest'

import { parseAgent } from '../../../src/broadcast/agent-family.ts'

test.for([
  ['VLC/3.0.20 LibVLC/3.0.20', 'VLC', { isBrowser: false, isBot: false, system: '' }],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36 Edg/130.0',
    'Edge',
    { isBrowser: true, isMobile: false, system: 'Windows' }
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
    'Safari',
    { isBrowser: true, isMobile: true, system: 'iOS' }
  ],
  [
    'AppleCoreMedia/1.0.0.21A350 (iPhone; U; CPU OS 17_0 like Mac OS X)',
    'Apple media player',
    { isMobile: true }
  ],
  ['Mozilla/5.0 (Linux; Android 14) ExoPlayerLib/2.19', 'ExoPlayer', { isBrowser: false, isMobile: true }],
  ['curl/8.5.0', 'Bot or script', { isBot: true }],
  ['', 'Other', { isBot: false, system: '' }],
  ['x'.repeat(100_000), 'Other', {}]
] as const)('%s', ([userAgent, family, parsed]) => {
  expect(parseAgent(userAgent)).toMatchObject({ family, ...parsed })
})
