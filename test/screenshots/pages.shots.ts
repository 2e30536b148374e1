import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

import type { Song, StationState } from '../../src/station/state.ts'
import { startBrowser } from '../support/browser.ts'
import { aPlay, aSong } from '../support/builders.ts'
import { drawCover } from '../support/drawn-covers.ts'
import { test } from '../support/fixtures.ts'

const folder = process.env['SHOTS'] ?? fileURLToPath(new URL('../../docs/screenshots/', import.meta.url))

const sizes = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 800 } } as const
const schemes = ['light', 'dark'] as const

const song = (artist: string, title: string, album: string): Song =>
  aSong({ artist, title, album, artId: Buffer.from(title).toString('hex').padEnd(24, '0').slice(0, 24) })

const minutes = 60_000

function aPlayingStation(): Partial<StationState> {
  const now = Date.now()
  const earlier = [
    song('Mara Quist', 'Tidewater', 'Estuary'),
    song('The Low Signals', 'Night Ferry', 'Harbour Lights'),
    song('Ines Okafor', 'A Room Above the Sea', 'Rooms'),
    song('Sol Arden', 'Glass Hours', 'Glass Hours'),
    song('Halvorsen & Daughter', 'Pilot Boat', 'Salt')
  ]
  return {
    shown: aPlay({
      startedAtMs: now - 97_000,
      durationMs: 215_000,
      song: song('Nils Okada', 'Paper Lanterns', 'Low Water')
    }),
    history: earlier.map((each, index) =>
      aPlay({ shId: 4300 - index, startedAtMs: now - 97_000 - (index + 1) * 4 * minutes, song: each })
    ),
    next: {
      cuedAtMs: now,
      playsAtMs: now + 118_000,
      durationMs: 182_000,
      playlist: 'Daytime',
      isRequest: true,
      song: song('Wren Adeyemi', 'Slow Weather', 'Almanac')
    },
    listeners: { total: 12, unique: 9, mounts: {}, remotes: {}, hls: 0 }
  }
}

const profile = {
  name: 'Harbour FM',
  description: 'Slow radio by the sea',
  url: 'https://harbour.example.com/',
  mounts: [
    {
      id: 1,
      path: '/main.mp3',
      displayName: '',
      bitrate: 192,
      format: 'mp3',
      hasAutodj: true,
      customUrl: '',
      isDefault: true
    },
    {
      id: 2,
      path: '/low.mp3',
      displayName: '',
      bitrate: 64,
      format: 'mp3',
      hasAutodj: true,
      customUrl: '',
      isDefault: false
    }
  ]
}

test('player', async ({ stage }) => {
  await mkdir(folder, { recursive: true })
  const browser = await startBrowser()
  const playing = await stage.put({ ...aPlayingStation(), profile })
  const live = await stage.put({
    ...aPlayingStation(),
    live: { streamerName: 'DJ Wren', startedAtMs: Date.now(), art: '' },
    profile,
    shown: aPlay({
      startedAtMs: Date.now() - 754_000,
      durationMs: 0,
      song: song('Sol Arden', 'An unreasonably long title that goes on about the weather at sea', '')
    })
  })
  const off = await stage.put({ ...aPlayingStation(), shown: null, current: null, profile })
  for (const [size, viewport] of Object.entries(sizes))
    for (const colorScheme of schemes) {
      const context = await browser.newContext({
        viewport,
        colorScheme,
        deviceScaleFactor: 1,
        locale: 'en-GB',
        hasTouch: size === 'phone',
        isMobile: size === 'phone'
      })
      const page = await context.newPage()
      page.on('console', line => {
        if (line.type() === 'error') process.stdout.write(`${line.text()}\n`)
      })
      page.on('pageerror', line => process.stdout.write(`${String(line)}\n`))
      await page.route('**/art/**', route =>
        route.fulfill({
          contentType: 'image/svg+xml',
          body: drawCover(new URL(route.request().url()).pathname.split('/').at(-1) ?? '')
        })
      )
      const shoot = async (path: string, name: string) => {
        await page.goto(stage.baseUrl + path)
        await page.waitForTimeout(1_800)
        await page.screenshot({
          fullPage: name === 'widgets',
          path: `${folder}/${name}-${size}-${colorScheme}.png`
        })
      }
      await shoot(`/public/${playing.shortName}`, 'player')
      await shoot(`/public/${playing.shortName}/widgets`, 'widgets')
      if (process.env['SHOTS']) {
        await shoot(`/public/${playing.shortName}/embed?size=full`, 'embed')
        await shoot(`/public/${live.shortName}`, 'live')
        await shoot(`/public/${off.shortName}`, 'off')
        await shoot(`/public/nobody`, 'missing')
      }
      await context.close()
    }
  await browser.close()
})
