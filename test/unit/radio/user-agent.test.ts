import { expect, test } from 'vitest'

import { isStreamingServerAgent, parseUserAgent } from '../../../src/radio/user-agent.ts'

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
  expect(parseUserAgent(userAgent)).toMatchObject({ family, ...parsed })
})

test.for([
  ['Icecast 2.4.4', true],
  ['Icecast 2.4.0-kh15', true],
  ['SHOUTcast Distributed Network Audio Server/Linux v2.6.1', true],
  ['Ultravox/2.1', true],
  ['Liquidsoap/2.1.3 (Unix; OCaml 4.13.1)', true],
  ['rsas/1.0.1', true],
  ['Icecast', true],
  ['shoutcast dnas/posix(linux x64) v2.6.1', true],
  ['SHOUTcast-Relay/1.9', true],
  ['Icecast Relay', true],
  ['Rocket Streaming Audio Server/3.1', true],
  ['WowzaStreamingEngine/4.8.5', true],
  ['ShoutcastPlayer', false],
  ['SHOUTcast Radio/3 CFNetwork/1410.0.3', false],
  ['Icecast-Player/1.0', false],
  ['IceCastReader', false],
  ['Icecast Client (Android)', false],
  ['Icecast Video 3', false],
  ['Liquidsoapy/1.0', false],
  ['WinampMPEG/5.66, Ultravox/2.1', false],
  ['VLC/3.0.20 LibVLC/3.0.20', false],
  ['Mozilla/5.0 (compatible; Icecast directory)', false],
  ['Aisha Player/1.0', false],
  ['', false]
] as const)('whether %j is a streaming server: %s', ([userAgent, isServer]) => {
  expect(isStreamingServerAgent(userAgent)).toBe(isServer)
})
